"""Settings, read once: flags, then the environment (REGRAPH_*), `regraph.toml`, the user's file.

Each setting knows where it came from; a name that is none is refused. The `regraph.toml` of the
current folder may be a stranger's: no password or key of the user's own goes to an address that it
names (`SENT_TO`). Not covered: what else such a file chooses, as which model reads the user's code
(SECURITY.md).
"""

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from regraph_kg.errors import BadInput, file_errors

Origin = Literal["flags", "environment", "folder", "user", "default"]
"""The place a setting came from: all but "folder" are the user's own word."""
FILE = "regraph.toml"
PREFIX = "REGRAPH_"  # begins a setting's name in the environment
TESTS = "REGRAPH_TEST_"  # begins names of the test suite, which are no settings
SENT_TO: Mapping[str, str] = {"store_password": "store", "openai_key": "openai_url"}
"""Each secret, and the setting that says who gets to see it."""


class Settings(BaseModel):
    """Every knob that is not an option of one command. Frozen; secrets never print.

    `read_settings` reads them; made directly, what is not given is as usual.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    store: str = "embedded"
    """"embedded", or the URI of a Neo4j server: bolt:// is one server, neo4j:// a cluster, whose
    replicas are read; +s (neo4j+s://) is TLS, by the authorities of the machine or SSL_CERT_FILE,
    +ssc is TLS without checking the certificate."""
    store_user: str = "neo4j"
    """Who logs in at a Neo4j server."""
    store_password: SecretStr = SecretStr("")
    """Its password; goes only to an address from where it comes from itself."""
    store_database: str | None = None
    """Name of the database; the server's default if not given."""
    store_idle_seconds: float = Field(default=600, gt=0)
    """The embedded store ends by itself after this long without a client."""
    data_dir: Path = Path(platformdirs.user_data_dir("regraph"))
    """Embedded store and keys; on Linux ~/.local/share/regraph."""
    cache_dir: Path = Path(platformdirs.user_cache_dir("regraph"))
    """What can be made again: objects, truths, peaks; on Linux ~/.cache/regraph."""
    gpu: int = Field(default=0, ge=0)
    """Which GPU judges, as CUDA counts those it may see."""
    corpus: Path | None = None
    """Folder with problems/, trajectories/, recorded/ and techniques.json; None: the shipped."""
    model: str = "recorded"
    """"recorded", "none", "ollama:NAME", "openai:NAME" or "batch:FOLDER"."""
    ollama_url: str = "http://127.0.0.1:11434"
    """Server of "ollama:NAME"."""
    openai_url: str = "http://127.0.0.1:8000/v1"
    """OpenAI-compatible server of "openai:NAME", up to and including /v1."""
    openai_key: SecretStr = SecretStr("")
    """Its key; goes only to an address from where it comes from itself."""
    batch_model: str = Field(default="model", min_length=1)
    """Whom the requests of "batch:FOLDER" are for: a name that the endpoint knows."""
    model_timeout_seconds: float = Field(default=600, gt=0)
    """Longest silence of a model's server."""
    model_temperature: float = Field(default=0.7, ge=0, le=2)
    """Temperature of a live model's sampling."""
    model_max_tokens: int = Field(default=4096, gt=0)
    """Longest answer of a live model."""
    patience_seconds: float = Field(default=30, ge=0)
    """A model's server that worked and is lost is waited for so long in all."""

    origins: Mapping[str, Origin] = Field(default_factory=dict, repr=False, exclude=True)
    """Origins of the settings that are not defaults; made by `read_settings` alone."""

    def origin(self, name: str) -> Origin:
        """The origin of the setting `name`."""
        return self.origins.get(name, "default")

    def place(self, name: str) -> str:
        """The place that gave the setting `name`: a variable, a file, "flags" or "default"."""
        origin = self.origin(name)
        places = {"environment": variable(name), "folder": FILE, "user": str(user_file())}
        return places.get(origin, origin)


def read_settings(**flags: object) -> Settings:
    """Settings with `flags` that are not None on top; `BadInput` names the first bad one."""
    layers: dict[Origin, Mapping[str, Any]] = {
        "flags": {name: value for name, value in flags.items() if value is not None},
        "environment": _environment(),
        "folder": _read(Path(FILE)),
        "user": _read(user_file()),
    }
    if Path(FILE).resolve() == user_file().resolve():
        del layers["folder"]  # in the user's own folder they are one file
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for origin, layer in reversed(layers.items()):  # the strongest comes last
        values |= layer
        origins |= dict.fromkeys(layer, origin)
    _guard_secrets(values, origins)
    try:
        return Settings.model_validate(values | {"origins": origins})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        # only the first: a line that lists all mistakes is no longer one line
        found = origins.get(name, "environment")
        places = {"flags": "", "folder": f"; see {FILE}", "user": f"; see {user_file()}"}
        where = places.get(found, f"; see {variable(name)}")
        raise BadInput(f"setting {name}: {first['msg']}{where}") from None


def _guard_secrets(values: Mapping[str, Any], origins: Mapping[str, Origin]) -> None:
    """Raise `BadInput` where a secret of the user would go to an address of the folder's file."""
    holders = {
        "flags": "the caller gives",
        "environment": "the environment holds",
        "user": "your own settings hold",
    }
    for secret, address in SENT_TO.items():
        holder = holders.get(origins.get(secret, "default"))
        if holder is None or not values[secret]:
            continue  # the folder's own secret may go where the folder says
        if origins.get(address) == "folder" and values[address] != "embedded":
            raise BadInput(
                f"{FILE} of this folder names {address} {without_login(str(values[address]))!r},"
                f" and {holder} {secret}, which is not sent there: if you mean it, set"
                f" {variable(address)} to it, else take it out of {FILE}"
            )


def without_login(url: str) -> str:
    """A URL for messages: without the name and password that it may hold."""
    return re.sub(r"//[^/?#]*@", "//", url)


def user_file() -> Path:
    """The user's own settings, for every folder."""
    return Path(platformdirs.user_config_dir("regraph")) / FILE


def setting_names() -> tuple[str, ...]:
    return tuple(name for name in Settings.model_fields if name != "origins")


def variable(name: str) -> str:
    return PREFIX + name.upper()


def _environment() -> dict[str, str]:
    """The settings of the environment. `BadInput` for a name that looks like one, but is none."""
    values = {}
    for name, value in os.environ.items():
        upper = name.upper()
        if not upper.startswith(PREFIX) or upper.startswith(TESTS):
            continue
        # a mistyped name would be passed over in silence, and its default used
        setting = upper.removeprefix(PREFIX).lower()
        if setting not in setting_names():
            raise BadInput(f"environment: no setting {name}{_instead(setting, variable)}")
        values[setting] = value
    return values


def _read(path: Path) -> dict[str, Any]:
    """What a file says, nothing if there is none. `BadInput` names its place and the mistake."""
    try:
        with file_errors(path, "make it readable, or remove it"):
            values = tomllib.loads(path.read_text(encoding="utf-8") if path.exists() else "")
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f'{path}: not TOML: {error}; write name = "value", a line each') from None
    for name in values:
        if name not in setting_names():
            raise BadInput(f"{path}: no setting {name!r}{_instead(name, str)}")
    return values


def _instead(name: str, written: Callable[[str], str]) -> str:
    """What to do about a name that is no setting; `written` is how a setting is called there."""
    if near := difflib.get_close_matches(name, setting_names(), 1):
        return f"; did you mean {written(near[0])}?"
    return "; unset it: regraph docs --settings lists all"
