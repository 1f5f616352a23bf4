"""Curation behind a Bolt connection: what a person changes in the vocabulary, logged and undone."""
