"""Judges a problem before it judges: is it what it says, can it be measured."""
