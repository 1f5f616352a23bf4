"""The judge: compile, run, verify and time a candidate that may be wrong, hang, crash or cheat.

evaluate.py is the story. Layers are in pyproject.toml and docs/dev/architecture.md; limits ("not
covered") at the top of docs/evaluation.md.
"""
