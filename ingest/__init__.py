"""Ingest: files of trajectories into the graph, through the one front door. See pipeline.py."""
