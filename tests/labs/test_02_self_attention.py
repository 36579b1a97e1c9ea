from lab_matrix import LabTests


class TestSelfAttention(LabTests):
    lab = "02_self_attention"
