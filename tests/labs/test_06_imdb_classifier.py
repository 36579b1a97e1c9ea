from lab_matrix import LabTests


class TestIMDBClassifier(LabTests):
    lab = "06_imdb_classifier"
