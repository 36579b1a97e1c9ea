"""What `course new` writes: an exercise, a lab, a course, with the places to fill in marked."""
