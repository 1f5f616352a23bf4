"""Trajectories from what there is: a large model's answers, or an evolution's programs.

    judged_steps.py  proposed steps, judged one by one, become a trajectory; which are kept
    conversation.py  a source of steps: a large model, asked forwards or back from a fast version
    openevolve.py    a source of steps: the lineages of an evolution's best programs
    journal.py       what was answered and judged, so that nothing is paid for twice

The story over them is runs/collect.py. Not here: merging what was collected into a graph (ingest/).
"""
