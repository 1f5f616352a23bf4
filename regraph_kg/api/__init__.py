"""What programs may rely on: `from regraph_kg import open_graph, evaluate` (docs/python.md)."""
