from lab_matrix import LabTests


class TestAttentionIntuition(LabTests):
    lab = "01_attention_intuition"
