"""Lab 06, exercise `linear_baseline`: solutions as different students write them, right and wrong."""

RIGHT = """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
"""

CORRECT = [
    RIGHT,
    """
from sklearn.pipeline import Pipeline
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    steps = [("count", CountVectorizer(ngram_range=(1, 2))), ("weigh", TfidfTransformer()), ("judge", LogisticRegression(max_iter=1000))]
    return Pipeline(steps).fit(train_texts, list(train_labels)).predict_proba(texts)[:, 1].tolist()
""",
    RIGHT.replace("model.predict_proba(new)[:, 1]", "1 / (1 + np.exp(-model.decision_function(new)))"),
    RIGHT.replace("1]", "list(model.classes_).index(1)]"),
    RIGHT.replace("model.predict_proba(new)[:, 1]", "tf.constant(model.predict_proba(new)[:, 1])"),
]

WRONG = [
    (
        "lecture_settings",
        """
def linear_baseline(train_texts, train_labels, texts):
    m = make_pipeline(TfidfVectorizer(ngram_range=(1,2), min_df=2, sublinear_tf=True), LogisticRegression(C=10, solver="liblinear")).fit(train_texts, train_labels)
    return m.predict_proba(texts)[:,1]
""",
    ),
    (
        "fitted_anew",
        """
def linear_baseline(train_texts, train_labels, texts):
    v = TfidfVectorizer(ngram_range=(1,2)); m = LogisticRegression().fit(v.fit_transform(train_texts), train_labels)
    w = TfidfVectorizer(ngram_range=(1,2), vocabulary=v.vocabulary_)
    return m.predict_proba(w.fit_transform(texts))[:,1]
""",
    ),
    (
        "other_penalty",
        """
def linear_baseline(train_texts, train_labels, texts):
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression(C=10))
    return model.fit(train_texts, train_labels).predict_proba(texts)[:, 1]
""",
    ),
    (
        "",
        """
def linear_baseline(train_texts, train_labels, texts):
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression())
    return model.fit(train_texts, train_labels).predict_proba(texts)[:, 1]
""",
    ),
    (
        "sublinear",
        """
def linear_baseline(train_texts, train_labels, texts):
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), LogisticRegression())
    return model.fit(train_texts, train_labels).predict_proba(texts)[:, 1]
""",
    ),
    ("stop_words_left_out", RIGHT.replace("(1, 2)", '(1, 2), stop_words="english"')),
    (
        "single_words_only",
        RIGHT.replace("TfidfVectorizer(ngram_range=(1, 2))", "TfidfVectorizer()"),
    ),
    (
        "pairs_only",
        RIGHT.replace("TfidfVectorizer(ngram_range=(1,", "TfidfVectorizer(ngram_range=(2,"),
    ),
    (
        "triples_too",
        RIGHT.replace("2))", "3))"),
    ),
    (
        "counts_alone",
        RIGHT.replace("TfidfVectorizer(ngram_range=(1,", "CountVectorizer(ngram_range=(1,"),
    ),
    (
        "negative_class",
        RIGHT.replace("1]", "0]"),
    ),
    (
        "decisions",
        RIGHT.replace("model.predict_proba(new)[:, 1]", "model.predict(new)"),
    ),
    (
        "scores",
        RIGHT.replace("model.predict_proba(new)[:, 1]", "model.decision_function(new)"),
    ),
    (
        "fitted_on_all_texts",
        RIGHT.replace("new =", "vectorizer.fit([*train_texts, *texts]); x = vectorizer.transform(train_texts); new ="),
    ),
    (
        "",
        RIGHT.replace("vectorizer.transform(texts)", "vectorizer.fit_transform(texts)"),
    ),
    (
        "",
        RIGHT.replace("model.predict_proba(new)[:, 1]", "model.predict_proba(new)"),
    ),
]
