"""Transforms: steps of a technique as data, which carry themselves out on new code."""
