"""The search: MCGS over a technique graph, real evaluation as reward. A function of callables.

It decides and counts; stores, models, judges and files are behind `world.World` and `trace.Trace`.
"""
