"""Code as tokens: when two spellings are one program, which technique a step shows."""
