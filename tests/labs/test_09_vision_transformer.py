from lab_matrix import LabTests


class TestVisionTransformer(LabTests):
    lab = "09_vision_transformer"
