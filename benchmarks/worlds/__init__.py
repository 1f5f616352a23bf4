"""Simulated worlds in which searches are compared: no model, no compiler, no clock.

A world is a domain: techniques, the graph that was learned in it, and problems. A step's outcome
depends on its content alone (problem, history of the code, technique, sample, repair), never on the
order of calls: two methods that ask the same are told the same. Directions are to be trusted,
magnitudes are not, and nothing here says that a graph helps a small model.
"""
