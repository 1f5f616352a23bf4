"""Tests of ports on a GPU use the judge's toolkit and its skips."""

from tests.evaluation.conftest import gpu, toolkit

__all__ = ["gpu", "toolkit"]
