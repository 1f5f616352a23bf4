"""Mechanical mends of a model's code: of its form only, so that its content can be judged."""
