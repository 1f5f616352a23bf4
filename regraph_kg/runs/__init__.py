"""Whole stories over open parts, the same for the command line, Python callers and benchmarks.

    choice.py    what a search is to be: the defaults, those of --fast, what a trace says
    search.py    a search: begun or resumed, record by record, ended, summarised
    ingest.py    files of trajectories into the graph, step by step
    learn.py     what finished searches found, into the graph
    collect.py   trajectories from a model, a git history, an evolution, judged, into a file

Nothing here prints or asks: who calls shows what is yielded.
"""
