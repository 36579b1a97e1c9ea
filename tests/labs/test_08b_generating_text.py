from lab_matrix import LabTests


class TestGeneratingText(LabTests):
    lab = "08b_generating_text"
