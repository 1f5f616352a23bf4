"""The script that builds a real Ollama says why it cannot, and is quiet where one is there."""

from pathlib import Path

import pytest

from tests import install_ollama


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(install_ollama.platformdirs, "user_cache_dir", lambda _: str(tmp_path))
    return tmp_path


def test_without_go_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert install_ollama.main() == 3
    assert "not built (go is not on PATH (https://go.dev/dl))" in capsys.readouterr().err


def test_a_failed_step_is_one_line_with_its_reason(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A `go` that fails, headers that are there."""
    tools = cache / "tools"
    tools.mkdir()
    for name in ("go", "gcc", "g++"):
        (tools / name).write_text("#!/bin/sh\necho no such module >&2\nexit 1\n")
        (tools / name).chmod(0o755)
    for header in install_ollama.HEADERS:
        (cache / header).parent.mkdir(exist_ok=True)
        (cache / header).touch()
    monkeypatch.setenv("PATH", f"{tools}:/bin:/usr/bin")
    monkeypatch.setattr(install_ollama, "SYSTEM", cache)
    assert install_ollama.main() == 3
    said = capsys.readouterr().err.splitlines()
    assert said[-1].endswith("not built (go: no such module)")
    assert install_ollama.binary() is None


def test_a_built_server_is_named_and_not_built_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = install_ollama.home() / "bin" / "ollama"
    server.parent.mkdir(parents=True)
    server.touch()
    monkeypatch.setenv("PATH", "/nonexistent")
    assert install_ollama.main() == 0
    assert capsys.readouterr().out == f"{server}\n"
