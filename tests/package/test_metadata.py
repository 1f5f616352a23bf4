"""What a package index shows, and what developers' versions are pinned to."""

import pkgutil
import re
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import regraph_kg

ROOT = Path(__file__).parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, SETUPTOOLS = PYPROJECT["project"], PYPROJECT["tool"]["setuptools"]
HOSTS = {"https://pypi.org", "https://files.pythonhosted.org"}


def test_the_text_for_an_index_has_no_link_into_the_checkout() -> None:
    text = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)|(?:src|href)=\"([^\"]+)\"", text)
    assert [link for pair in links for link in pair if link and not link.startswith("http")] == []


def test_the_lock_names_public_hosts_only() -> None:
    text = (ROOT / "uv.lock").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^/\"]+", text)) == HOSTS


def test_the_lock_is_of_these_requirements() -> None:
    """Mended by `uv lock`."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    locked = {one["name"]: one["version"] for one in lock["package"]}
    wanted = [*PROJECT["dependencies"]]
    for extra in PROJECT["optional-dependencies"].values():
        wanted += extra
    for one in map(Requirement, wanted):
        assert one.specifier.contains(locked[canonicalize_name(one.name)], prereleases=True), one


def test_every_package_of_the_tree_is_in_the_wheel() -> None:
    walked = pkgutil.walk_packages(regraph_kg.__path__, "regraph_kg.")
    assert {one.name for one in walked if one.ispkg} - {*SETUPTOOLS["packages"]} == set()
