"""The instructor's side: declares exercises, runs submissions behind walls, judges and records."""
