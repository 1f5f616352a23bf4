"""regraph-kg: a graph of optimization techniques that a small model walks. Imports nothing."""
