"""Grading on Gradescope: what runs in its container, and what it reports there."""
