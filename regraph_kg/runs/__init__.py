"""Operations over open parts, the same for the command line, Python callers and benchmarks.

Nothing here prints or asks: callers show the yielded progress.
"""
