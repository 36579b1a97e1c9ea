"""Hostile and damaged submissions of lab 02, each with the verdict it must get."""
