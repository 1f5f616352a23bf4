"""Passwords and keys go to addresses of the user's own choosing, and nowhere else."""

import os
import socket
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from pydantic import SecretStr

from regraph_kg.errors import BadInput, ModelError
from regraph_kg.llm.model import AskOptions
from regraph_kg.llm.ollama import OllamaModel
from regraph_kg.llm.openai_compatible import OpenAICompatibleModel
from regraph_kg.settings import FILE, SENT_TO, Settings, read_settings

ONCE = AskOptions(0.0, 9, timeout=5, patience=0)
PASSWORD, KEY = "sesame-of-the-store", "sk-of-the-user"
SECRETS = {"REGRAPH_STORE_PASSWORD": PASSWORD, "REGRAPH_OPENAI_KEY": KEY}


class Listener:
    """A port that keeps what arrives, and answers `answer` to everything."""

    def __init__(self, answer: str = "") -> None:
        self.heard = b""
        self.callers = 0
        self._answer = answer.encode()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                caller, _ = self._socket.accept()
                self.callers += 1
                with caller, suppress(OSError):
                    caller.settimeout(2)
                    self.heard += caller.recv(65536)
                    caller.sendall(self._answer)


@contextmanager
def listening(answer: str = "") -> Iterator[Listener]:
    listener = Listener(answer)
    try:
        yield listener
    finally:
        listener.close()


def said(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`regraph WORDS` as the user types it in `folder`, secrets in the environment."""
    own = {"XDG_CONFIG_HOME": str(folder / "own"), "REGRAPH_DATA_DIR": str(folder / "data")}
    return subprocess.run(
        [sys.executable, "-c", "from regraph_kg.cli.app import main; main()", *words],
        cwd=folder,
        env=_bare() | own | SECRETS | environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def _bare() -> Mapping[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("REGRAPH_")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, without settings of this machine's user."""
    for name in [name for name in os.environ if name.startswith("REGRAPH_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def own_file(folder: Path, text: str) -> None:
    (folder / "own" / "regraph").mkdir(parents=True)
    (folder / "own" / "regraph" / FILE).write_text(text)


# --- the whole way: commands of a folder that somebody sent ---


def test_a_folder_that_names_a_store_gets_no_password(folder: Path) -> None:
    with listening() as thief:
        (folder / FILE).write_text(f'store = "bolt://127.0.0.1:{thief.port}"\n')
        done = said(folder, "graph", "report")
        assert (done.returncode, thief.callers) == (2, 0)
    assert done.stderr.count("\n") == 1
    assert f"{FILE} of this folder names store" in done.stderr
    assert "the environment holds store_password" in done.stderr
    assert "set REGRAPH_STORE to it" in done.stderr
    assert PASSWORD not in done.stderr


def test_a_folder_that_names_a_models_server_gets_no_key(folder: Path) -> None:
    with listening() as thief:
        (folder / FILE).write_text(f'openai_url = "http://me:it@127.0.0.1:{thief.port}/v1"\n')
        done = said(folder, "optimize", "x", "--model", "openai:x")
        assert (done.returncode, thief.callers) == (2, 0)
    assert "openai_key" in done.stderr
    assert "me:it" not in done.stderr


def test_the_users_own_address_does_get_the_key(folder: Path) -> None:
    """Else the tests above would prove nothing."""
    with listening("HTTP/1.1 500 no\r\nContent-Length: 0\r\n\r\n") as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        key = read_settings(openai_key=KEY).openai_key
        with pytest.raises(ModelError):
            OpenAICompatibleModel(url, key, "x", ONCE)
        assert KEY.encode() in server.heard


def test_a_password_of_the_address_is_sent_and_in_no_log(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    with listening("HTTP/1.1 500 no\r\nContent-Length: 0\r\n\r\n") as server:
        url = f"http://me:{PASSWORD}@127.0.0.1:{server.port}"
        with pytest.raises(ModelError) as caught:
            OllamaModel(url, "x", ONCE)
        assert b64encode(f"me:{PASSWORD}".encode()) in server.heard
    assert PASSWORD not in caplog.text + str(caught.value)


# --- the rule ---


def test_every_secret_says_who_gets_to_see_it() -> None:
    fields = Settings.model_fields
    assert {name for name, field in fields.items() if field.annotation is SecretStr} == set(SENT_TO)
    assert set(SENT_TO.values()) <= set(fields)


@pytest.mark.parametrize(
    ("secret", "line"),
    [
        ("store_password", 'store = "bolt://elsewhere:7687"'),
        ("store_password", 'store = "neo4j+s://elsewhere"'),
        ("openai_key", 'openai_url = "https://elsewhere/v1"'),
    ],
)
def test_a_folders_address_meets_no_secret_of_the_users(
    secret: str, line: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / FILE).write_text(line)
    read_settings()  # no secret: nothing to keep
    with pytest.raises(BadInput, match=f"the caller gives {secret}"):
        read_settings(**{secret: "x"})
    own_file(folder, f'{secret} = "x"\n')
    with pytest.raises(BadInput, match=f"your own settings hold {secret}"):
        read_settings()
    monkeypatch.setenv(f"REGRAPH_{secret.upper()}", "x")
    with pytest.raises(BadInput, match=f"the environment holds {secret}") as caught:
        read_settings()
    assert "\n" not in str(caught.value)


def test_what_comes_from_the_user_goes_together(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment's password for the address of the user's own file, and the other way."""
    own_file(folder, 'store = "bolt://mine"\nopenai_key = "k"\n')
    (folder / FILE).write_text('openai_url = "http://theirs/v1"\n')  # the user's own wins
    monkeypatch.setenv("REGRAPH_STORE_PASSWORD", "x")
    monkeypatch.setenv("REGRAPH_OPENAI_URL", "http://mine/v1")
    settings = read_settings(model="openai:x")
    assert (settings.store, settings.openai_url) == ("bolt://mine", "http://mine/v1")
    assert [settings.origin(name) for name in ("store", "openai_url", "model", "gpu")] == [
        *("user", "environment", "flags", "default")
    ]


def test_a_folder_may_name_an_address_with_its_own_secret(folder: Path) -> None:
    (folder / FILE).write_text('store = "bolt://theirs"\nstore_password = "theirs"\n')
    assert read_settings().store == "bolt://theirs"


def test_no_file_says_where_its_settings_came_from(folder: Path) -> None:
    (folder / FILE).write_text(
        'openai_url = "http://theirs/v1"\n[origins]\nopenai_url = "user"\nopenai_key = "folder"\n'
    )
    with pytest.raises(BadInput, match=r"regraph.toml: no setting 'origins'"):
        read_settings(openai_key="k")


# --- on the way: redirects, accounts elsewhere ---


def test_a_server_that_sends_us_elsewhere_is_not_followed(folder: Path) -> None:
    """Neither with the key, nor with the prompt."""
    with listening() as thief:
        away = f"HTTP/1.1 307 x\r\nLocation: http://127.0.0.1:{thief.port}/\r\n"
        with listening(f"{away}Content-Length: 0\r\n\r\n") as server:
            url = f"http://127.0.0.1:{server.port}"
            with pytest.raises(ModelError):
                OpenAICompatibleModel(f"{url}/v1", SecretStr(KEY), "x", ONCE)
            with pytest.raises(ModelError):
                OllamaModel(url, "x", ONCE)
            assert server.callers == 2
        assert thief.callers == 0


def test_the_key_of_an_ollama_account_goes_to_no_server(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package ollama would send it."""
    monkeypatch.setenv("OLLAMA_API_KEY", KEY)
    answer = 'HTTP/1.1 200 x\r\nContent-Length: 18\r\n\r\n{"version": "1.0"}'
    with listening(answer) as server:
        with pytest.raises(ModelError):
            OllamaModel(f"http://127.0.0.1:{server.port}", "x", ONCE)
        assert server.callers >= 1
        assert KEY.encode() not in server.heard
