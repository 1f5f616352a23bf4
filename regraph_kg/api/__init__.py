"""What programs may rely on: `names.py` lists it, and `regraph_kg` loads it at its first use."""
