"""Trajectories from a large model's answers.

    judged_steps.py  proposed steps, judged one by one, become a trajectory; which are kept
    conversation.py  a source of steps: a large model, asked for one step after the other
    journal.py       what was answered and judged, so that nothing is paid for twice

The story over them is runs/collect.py. Not here: merging what was collected into a graph (ingest/).
"""
