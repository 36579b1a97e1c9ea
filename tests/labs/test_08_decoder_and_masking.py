from lab_matrix import LabTests


class TestDecoderAndMasking(LabTests):
    lab = "08_decoder_and_masking"
