"""Suites of problems, searched by several arms, measured and compared."""
