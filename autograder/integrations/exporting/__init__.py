"""Marks and feedback in the forms that other systems take: Canvas, Moodle, a plain table, Gradescope."""
