"""What a check and the grader share: judge, compare, diagnose, report, and the rules of an exercise."""
