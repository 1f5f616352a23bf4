"""Trajectories from what there is: a large model's answers, a git history, an evolution's programs.

    steps.py         the seam: a source proposes steps, and hears how each was judged
    conversation.py  a source: a large model, asked step by step
    backwards.py     a source: the same, back from an expert's version
    git_history.py   a source: the history of a file
    openevolve.py    a source: the lineages of an evolution's best programs
    build.py         proposed steps, judged one by one, become a trajectory
    curate.py        which trajectories are kept
    journal.py       what was answered and judged, so that nothing is paid for twice

The story over them is runs/collect.py. Not here: merging what was collected into a graph (ingest/).
"""
