"""A task, its codes, and a judge that goes by marks in them: what sources and building need."""

from regraph_kg.models.evaluation import EvalReport, Interval, Outcome, Timing, code_hash
from regraph_kg.models.run import Task

SERIAL = 'extern "C" void scale(float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }\n'
TASK = Task("scale", "openmp", SERIAL, "scale", "void scale(float* x, int n)")


def code(mark: str) -> str:
    """Code that differs by `mark`, which may be "wrong.." or a speedup: "fast3"."""
    return SERIAL.replace("i < n", f"i < n /**/ + 0 * sizeof(struct {mark}*)")


def judge(text: str) -> EvalReport:
    """Wrong where it says so; else as many times as fast as a number in it."""
    wrong = "wrong" in text
    speedup = 1.0 if "fast" not in text else float(text.partition("fast")[2].partition("*")[0])
    return EvalReport(
        problem="scale",
        target="openmp",
        metric="call",
        code_hash=code_hash(text),
        outcome=Outcome.WRONG_ANSWER if wrong else Outcome.PASSED,
        diagnosis="y[3] is 1, should be 2" if wrong else "",
        device="a CPU",
        toolchain="g++",
        evaluator="3",
        grade="screening",
        timing=None if wrong else _timing(1 / speedup),
        baseline=_timing(1.0),
        speedup=None if wrong else speedup,
    )


def _timing(seconds: float) -> Timing:
    return Timing(samples=(seconds,), median=seconds, interval=Interval(low=seconds, high=seconds))
