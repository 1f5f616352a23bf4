"""The script that builds a llama.cpp server says why it cannot, and is quiet where one is there."""

from pathlib import Path

import pytest

from tests import install_llama_cpp


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(install_llama_cpp.platformdirs, "user_cache_dir", lambda _: str(tmp_path))
    return tmp_path


def test_without_a_compiler_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert install_llama_cpp.main() == 3
    assert "not built (gcc is not on PATH (Debian: gcc))" in capsys.readouterr().err


def test_a_failed_step_is_one_line_with_its_reason(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Python that fails; what pip says last is a hint."""
    python = cache / "python"
    python.write_text("#!/bin/sh\nprintf 'ERROR: no such release\\nhint: read\\n' >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(install_llama_cpp.sys, "executable", str(python))
    assert install_llama_cpp.main() == 3
    said = capsys.readouterr().err.splitlines()
    assert said[-1].endswith("for the tests: not built (python: ERROR: no such release)")
    assert install_llama_cpp.interpreter() is None


def test_a_built_server_is_named_and_not_built_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = install_llama_cpp.home() / "environment" / "bin" / "python"
    server.parent.mkdir(parents=True)
    server.touch()
    monkeypatch.setenv("PATH", "/nonexistent")
    assert install_llama_cpp.main() == 0
    assert capsys.readouterr().out == f"{server}\n"
