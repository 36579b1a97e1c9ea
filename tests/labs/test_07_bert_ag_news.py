from lab_matrix import LabTests


class TestBERTOnAGNews(LabTests):
    lab = "07_bert_ag_news"
