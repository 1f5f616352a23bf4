"""Trajectories from a large model's answers; the story over them is runs/collect.py."""
