"""Settings, read once from the environment (REGRAPH_*) and `regraph.toml`; flags override both."""

from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from regraph_kg.errors import BadInput


class Settings(BaseSettings):
    """Every knob that is not an option of one command. Frozen; secrets never print."""

    model_config = SettingsConfigDict(
        env_prefix="REGRAPH_", toml_file="regraph.toml", frozen=True, extra="ignore"
    )

    store: str = "embedded"
    """"embedded", or the URI of a Neo4j server: bolt:// is one server, neo4j:// a cluster, whose
    replicas are read; +s (neo4j+s://) is TLS, +ssc is TLS without checking the certificate."""
    store_user: str = "neo4j"
    store_password: SecretStr = SecretStr("")
    store_database: str | None = None
    """Name of the database; the server's default if not given."""
    store_ca: Path | None = None
    """PEM file of who signed the server's certificate, for +s; else the machine's authorities."""
    store_idle_seconds: float = Field(default=600, gt=0)
    """The embedded store ends by itself after this long without a client."""
    data_dir: Path = Path(platformdirs.user_data_dir("regraph"))
    cache_dir: Path = Path(platformdirs.user_cache_dir("regraph"))
    gpu: int = Field(default=0, ge=0)
    """Which GPU judges, as CUDA counts those it may see."""
    isolation: Literal["fresh", "shared"] = "fresh"
    """"fresh": a process for each candidate; "shared": one for many, only for code you trust."""
    workers: str | None = None
    """Ray cluster whose hosts judge: "auto", "HOST:PORT" or "ray://HOST:PORT"; None: this host."""
    corpus: Path = Path("corpus")
    """Folder with problems/, trajectories/, recorded/ and techniques.json."""
    model: str = "recorded"
    """"recorded", "ollama:NAME", "openai:NAME" or "batch:FOLDER"."""
    ollama_url: str = "http://127.0.0.1:11434"
    openai_url: str = "http://127.0.0.1:8000/v1"
    """OpenAI-compatible server of "openai:NAME", up to and including /v1."""
    openai_key: SecretStr = SecretStr("")
    batch_model: str = Field(default="model", min_length=1)
    """Whom the requests of "batch:FOLDER" are for: a name that the endpoint knows."""
    embedder: str | None = None
    """"hash", "ollama:NAME" or "sentence-transformers:NAME"; None = as the graph's, or "hash"."""
    model_timeout_seconds: float = Field(default=600, gt=0)
    model_temperature: float = Field(default=0.7, ge=0, le=2)
    model_max_tokens: int = Field(default=4096, gt=0)
    """Longest answer of a live model."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, then the environment, then regraph.toml in the current folder."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def read_settings(**flags: object) -> Settings:
    """Settings with `flags` that are not None on top; `BadInput` names the first bad one."""
    given = {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings(**given)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise BadInput(
            f"setting {name}: {first['msg']}; see REGRAPH_{name.upper()} and regraph.toml"
        ) from None
