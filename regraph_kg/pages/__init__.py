"""Pages: self-contained HTML files that load nothing.

render.py makes the text of a page from values. d3 (ISC, its licence in assets/d3.LICENSE) draws.
Not here: the origin of the values (runs/).
"""
