"""Finds submissions that are more alike than chance makes them, for a person to look at."""
