"""Pages for people to read: feedback, the class report, answers in words."""
