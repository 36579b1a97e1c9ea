"""Lab 06, exercise `linear_baseline`: solutions as different students write them, right and wrong."""

CORRECT = [
    """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
""",
    """
from sklearn.pipeline import Pipeline
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    steps = [("count", CountVectorizer(ngram_range=(1, 2))), ("weigh", TfidfTransformer()), ("judge", LogisticRegression(max_iter=1000))]
    return Pipeline(steps).fit(train_texts, list(train_labels)).predict_proba(texts)[:, 1].tolist()
""",
    """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return 1 / (1 + np.exp(-model.decision_function(new)))
""",
    """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, list(model.classes_).index(1)]
""",
    """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return tf.constant(model.predict_proba(new)[:, 1])
""",
]

WRONG = [
    (
        "single_words_only",
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer()
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
""",
    ),
    (
        "pairs_only",
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(2, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
""",
    ),
    (
        "triples_too",
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 3))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
""",
    ),
    (
        "counts_alone",
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = CountVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
""",
    ),
    (
        "negative_class",
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 0]
""",
    ),
    (
        "decisions",
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict(new)
""",
    ),
    (
        "scores",
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.decision_function(new)
""",
    ),
    (
        "fitted_on_all_texts",
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    vectorizer.fit([*train_texts, *texts]); x = vectorizer.transform(train_texts); new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
""",
    ),
    (
        "",
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.fit_transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)[:, 1]
""",
    ),
    (
        "",
        """
from sklearn.feature_extraction.text import TfidfVectorizer, TfidfTransformer, CountVectorizer
from sklearn.linear_model import LogisticRegression
def linear_baseline(train_texts, train_labels, texts):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2))
    x = vectorizer.fit_transform(train_texts)
    new = vectorizer.transform(texts)
    model = LogisticRegression().fit(x, train_labels)
    return model.predict_proba(new)
""",
    ),
]
