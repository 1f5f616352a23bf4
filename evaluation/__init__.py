"""The judge: compile, run, verify and time a candidate that may be wrong, hang, crash or cheat.

The story         evaluate.py: Judge.evaluate = compile, run, verify, time
a machine         machine.py, device.py, toolchain.py, compile.py, complaints.py, health.py, nvml.py
a problem         problem.py, expression.py, rules.py, inputs.py, generator.py, rewrite.py
a session of it   session.py, seat.py, arena.py, bench.py, reference.py, result.py
a worker          supervisor.py, spawn.py, handshake.py, drain.py; worker.py is the untrusted side
right or wrong    verify.py, covering.py, cheap.py, diagnose.py, patterns.py, sanitizer.py,
                  calibrate.py
how fast          timing.py, stop.py, compare.py, roofline.py, peaks.py, kernels.py
many at once      pool.py, process.py, docket.py; fleet.py, cluster.py for several hosts
a user's check    doctor.py, drill.py, sandbox.py, exploits/
trajectories      measure.py

Layers are in pyproject.toml; what is not covered stands at the top of docs/evaluation.md.
"""
