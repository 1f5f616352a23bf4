"""Judges code in an existing project by the project's own commands; weaker than the other judge."""
