"""What runs beside student code: it holds no expected value, no mark and no other student's file."""
