"""Builds the course's web site: static pages from the executed lectures, the released labs and the docs."""
