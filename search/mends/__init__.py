"""Mechanical mends of the form of a model's code, so that its content can be judged."""
