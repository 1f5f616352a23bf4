"""A target is one value: its name and its prompt come with it."""

from pathlib import Path
from typing import get_args

from regraph_kg.models.target import TARGETS, Target

PROMPTS = Path(__file__).parents[2] / "search" / "prompts"


def test_every_name_has_its_value_and_its_prompt() -> None:
    assert tuple(TARGETS) == get_args(Target)
    for name, target in TARGETS.items():
        assert target.name == name
        assert (PROMPTS / f"{name}.txt").is_file()
