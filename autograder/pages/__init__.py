"""Pages and notebooks for people to read: feedback, the class report, autograded notebooks."""
