"""One run of `course grade`: from the files that were handed in to gradebook, tables and pages."""
