"""`python -m autograder.cli`: the `course` command."""

from autograder.cli.app import main

main()
