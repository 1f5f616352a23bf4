"""Prompts: text files, and the code that fills them in."""
