"""The public functions for programs: `from regraph_kg import open_graph` (docs/python.md)."""
