"""Lab 08b: the exercises of Generating text."""
