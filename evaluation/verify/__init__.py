"""Right or wrong: the cases, the expected outputs, and the diagnosis of a difference."""
