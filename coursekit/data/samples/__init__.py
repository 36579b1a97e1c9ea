"""This project's own grammars: synthetic reviews, news and sentence pairs, the same on every machine."""
