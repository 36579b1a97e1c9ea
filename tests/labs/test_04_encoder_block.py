from lab_matrix import LabTests


class TestEncoderBlock(LabTests):
    lab = "04_encoder_block"
