from lab_matrix import LabTests


class TestPositionalEncoding(LabTests):
    lab = "05_positional_encoding"
