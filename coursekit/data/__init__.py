"""The course's data in the form of `keras.datasets`: samples that this project generates, or the real sets.

    from coursekit import data

    SOURCE = data.chosen_source()  # "sample", unless the environment variable COURSE_SOURCE says "real"
    (train_texts, train_labels), (test_texts, test_labels) = data.reviews(source=SOURCE)

Every loader prints one line that says what it gave. It never gives anything other than what was asked for: if the real
data cannot be loaded, it raises `DataError`, which says how to go on.
"""

from coursekit.data.ag_news import NEWS_CLASSES, news
from coursekit.data.files import DataError, chosen_source
from coursekit.data.image_sets import CIFAR10_CLASSES, FASHION_CLASSES, images
from coursekit.data.imdb import reviews
from coursekit.data.library import library_functions
from coursekit.data.multi30k import sentence_pairs
from coursekit.data.published_models import published

__all__ = [
    "CIFAR10_CLASSES",
    "FASHION_CLASSES",
    "NEWS_CLASSES",
    "DataError",
    "chosen_source",
    "images",
    "library_functions",
    "news",
    "published",
    "reviews",
    "sentence_pairs",
]
