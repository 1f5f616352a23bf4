"""Query text, one statement a file; backends/queries.py reads it. `embedded/` holds overrides."""
