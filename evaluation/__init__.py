"""The judge: compile, run, verify and time a candidate that may be wrong, hang, crash or cheat.

evaluate.py       the story: Judge.evaluate = compile, run, verify, time; compare.py
machine.py        tools, device; session.py, slots.py: a problem; evaluation.py: a candidate's value
problem/          a problem: its declaration, its inputs
compile/          source text -> shared object
confined/         confined processes; worker.py is the untrusted side
worker/           the judge's side of a worker; harness/ is loaded beside the candidate
verify/           right or wrong
timing/           how fast, and how far from the device's roof
gpu/              the machine's facts, the GPU's health, profiles, compute-sanitizer
hosts/            many at once: pool.py
checkup/          checks of a problem before a search
doctor.py         a user's check of a machine
measure.py        trajectories

Layers are in pyproject.toml; limits ("not covered") at the top of docs/evaluation.md.
"""
