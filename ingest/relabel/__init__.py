"""Relabelling: from the names that models give techniques to techniques. See cascade.py."""
