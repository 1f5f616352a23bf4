"""Pages: one HTML file each, with all that it needs within, that asks nobody for anything.

render.py makes the text of a page from values; live.py serves one while it changes. d3 (ISC, its
licence in assets/d3.LICENSE) draws. Not here: where the values come from (runs/).
"""
