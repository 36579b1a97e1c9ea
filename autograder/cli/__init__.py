"""The `course` command, one module a command."""
