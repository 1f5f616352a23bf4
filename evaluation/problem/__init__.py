"""A problem: its declaration, its inputs, its serial code with more precise types."""
