"""The lowest layer: settings, nbgrader's cells, text pairs, the course's files. It imports no other package here."""
