"""What an author of exercises measures with: mutants of formulas and of solutions. Nothing that grades imports it."""
