"""Relabelling beside labels by people."""
