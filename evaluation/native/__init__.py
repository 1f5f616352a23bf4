"""Work on arrays in compiled code."""
