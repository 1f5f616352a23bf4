"""Right or wrong: which calls, what must come out, and what a difference means."""
