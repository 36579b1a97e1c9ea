"""What a student's notebook imports: checks, plots, diagrams and data. Holds no answer."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow's start-up messages look like errors in a notebook
os.environ.setdefault("KERAS_BACKEND", "tensorflow")

from coursekit.lab import start_lab

__all__ = ["__version__", "start_lab"]

__version__ = "0.1.0"
