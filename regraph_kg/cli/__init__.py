"""The command line: one file per noun; each parses, wires, calls, prints. See app.py."""
