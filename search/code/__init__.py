"""Facts of code, read from its tokens and its syntax tree."""
