"""The tables that this grader keeps in nbgrader's database, beside nbgrader's own."""

from __future__ import annotations

from sqlalchemy import Column, DateTime, Float, Integer, MetaData, String, Table, Text

metadata = MetaData()

result_table = Table(
    "course_result",
    metadata,
    Column("student", String(128), primary_key=True),
    Column("lab", String(128), primary_key=True),
    Column("content_hash", String(128), nullable=False),
    Column("grader_version", String(128), nullable=False),
    Column("result", Text, nullable=False),  # LabResult.to_dict as JSON
    Column("answers", Text, nullable=False),  # JSON: graded cell -> hash of the student's answer to it
    Column("graded_at", DateTime, nullable=False),  # UTC
)
date_table = Table(
    "course_date",  # what course.toml said last, as it was written into nbgrader's own rows
    metadata,
    Column("lab", String(128), primary_key=True),
    Column("student", String(128), primary_key=True),  # whose extension; empty: the due date of the lab
    Column("written", String(64), nullable=False),
)
change_table = Table(
    "course_mark_change",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("student", String(128), nullable=False, index=True),
    Column("lab", String(128), nullable=False),
    Column("part", String(255), nullable=False),  # the graded cell
    Column("changed_at", DateTime, nullable=False),  # UTC
    Column("by", String(128), nullable=False),  # the account of whoever changed it
    Column("before", Float),  # points by hand; NULL: the automatic ones
    Column("after", Float),
    Column("because", Text, nullable=False),
)
case_table = Table(
    "course_cases",  # by which hidden cases a version of the grader has graded: see case_states.py
    metadata,
    Column("lab", String(128), primary_key=True),
    Column("version", String(128), primary_key=True),
    Column("digests", Text, nullable=False),  # JSON: exercise -> digest
    Column("used_at", DateTime),  # UTC; NULL: with a seed that is not the course's
)
removed_table = Table(
    "course_removed",  # who, or which file, is not graded again
    metadata,
    Column("student", String(128), primary_key=True),
    Column("lab", String(128), primary_key=True),  # empty: the student has left, and every lab is meant
    Column("content_hash", String(128), nullable=False),  # of the removed attempt; empty: every file is meant
    Column("removed_at", DateTime, nullable=False),  # UTC
)
