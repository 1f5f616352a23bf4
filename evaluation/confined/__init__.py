"""Confined processes: workers, compilers, a problem's inputs.py; standard library only."""
