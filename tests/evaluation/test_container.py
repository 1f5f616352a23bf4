"""The text of the worker's container recipe; tests/docker builds and runs it."""

import re
from pathlib import Path

RECIPE = Path(__file__).parents[2] / "docker" / "worker.Dockerfile"


def instructions() -> list[tuple[str, str]]:
    """Every instruction with its arguments, continued lines joined."""
    text = RECIPE.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    pairs = [line.split(maxsplit=1) for line in lines]
    return [(name, rest) for name, rest in pairs]


def test_every_instruction_is_one_that_docker_knows() -> None:
    known = {"ARG", "FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in instructions()} <= known  # no ADD, which fetches from the network


def test_the_base_is_pinned_to_the_toolkit_that_pyproject_wants() -> None:
    pyproject = RECIPE.parents[1] / "pyproject.toml"
    wanted = re.search(r"cuda-toolkit\[.*\]==(\d+\.\d+)\.\*", pyproject.read_text(encoding="utf-8"))
    assert wanted
    (name, base), (_, source), *_ = instructions()
    assert (name, source) == ("ARG", "${BASE}")
    assert re.fullmatch(rf"BASE=nvidia/cuda:{re.escape(wanted[1])}\.\d+-devel-ubuntu24\.04", base)


def test_what_runs_is_not_root() -> None:
    names = [name for name, _ in instructions()]
    users = [rest for name, rest in instructions() if name == "USER"]
    assert users
    assert users[-1] not in ("root", "0")
    assert "RUN" not in names[names.index("USER") :]
