"""The judge: compile, run, verify and time a candidate that may be wrong, hang, crash or cheat.

problem.py     what a problem is: problem.toml, serial.cpp
rules.py       Defences, Limits, Failure: what the judge enforces
inputs.py      arrays of a named distribution from a secret seed
arena.py       the shared memory that judge and worker have in common
toolchain.py   which compilers there are
rewrite.py     serial.cpp with fp64 types: the reference
compile.py     source text -> shared object, cached by content
device.py      machine facts and the statistics key
supervisor.py  one worker process: start, call, deadline, kill
worker.py      the untrusted side (standard library only) around harness/harness.cpp
reference.py   what outputs must be, and how far from it they may lie
bench.py       the arrays and calls of the timing shape
verify.py      cases, comparison, diagnosis
timing.py      samples -> median, interval, when to stop
session.py     one problem on one target: memory, truths, baseline
evaluate.py    the story: Judge.evaluate = compile, run, verify, time
"""
