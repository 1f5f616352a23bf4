"""The seam to whatever answers prompts: the protocol, and one file per kind of model behind it."""
