"""Checks of a problem before a search: is its declaration true, can it be measured."""
