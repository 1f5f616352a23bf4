"""C++ files as trees: the functions in them, and what a function needs of its file."""
