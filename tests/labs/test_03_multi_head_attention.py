from lab_matrix import LabTests


class TestMultiHeadAttention(LabTests):
    lab = "03_multi_head_attention"
