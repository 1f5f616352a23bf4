"""Operations over open parts, the same for the command line, Python callers and benchmarks.

    choice.py    choices of a search: the defaults, those of --fast, those of a trace
    search.py    a search: begun or resumed, record by record, ended, summarised
    ingest.py    files of trajectories into the graph, step by step
    learn.py     lessons of finished searches into the graph
    collect.py   trajectories from a model or an evolution, judged, into a file

Nothing here prints or asks: callers show the yielded progress.
"""
