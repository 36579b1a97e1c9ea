"""What the labs of this course ask: a folder for each lab, in it a file for each exercise."""
