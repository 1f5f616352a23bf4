"""Settings: a typing error is told where it stands, and each value says where it came from."""

import json
import os
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.settings import FILE, Settings, read_settings, setting_names, user_file
from tests.in_process import typed as regraph


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, without settings of this machine's user."""
    for name in [name for name in os.environ if name.startswith("REGRAPH_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("REGRAPH_SOTRE", "did you mean REGRAPH_STORE?"),
        ("regraph_ollama_ulr", "did you mean REGRAPH_OLLAMA_URL?"),
        ("REGRAPH_XYZZY", "regraph docs --settings lists all"),
        ("REGRAPH_ORIGINS", "no setting"),
    ],
)
def test_an_unknown_name_in_the_environment_is_refused(
    name: str, meant: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "bolt://x")
    with pytest.raises(BadInput) as error:
        read_settings()
    assert meant in str(error.value)
    assert name in str(error.value)


@pytest.mark.usefixtures("folder")
def test_names_of_the_test_suite_are_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGRAPH_TEST_REQUIRE", "neo4j")
    assert read_settings() == Settings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gpu = 0\nstoer = 1\n", r"^regraph\.toml: no setting 'stoer'; did you mean store\?$"),
        ("[gup]\nx = 1\n", r"^regraph\.toml: no setting 'gup'; did you mean gpu\?$"),
        ("gpu = 0\nmodel = \n", r"^regraph\.toml: not TOML: .*line 2, column 9"),
        ("# first\n\ngpu = -1\n", r"^setting gpu: .*; see regraph\.toml$"),
        ('store = "\udce9"\n', r"^regraph\.toml: not UTF-8 text"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_its_place(text: str, said: str, folder: Path) -> None:
    (folder / FILE).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match=said):
        read_settings()


def test_a_mistake_in_the_users_own_file_names_that_file(folder: Path) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("modle = 1\n")
    with pytest.raises(BadInput) as error:
        read_settings()
    assert str(error.value).startswith(f"{user_file()}: no setting 'modle'; did you mean model?")


@pytest.mark.usefixtures("folder")
def test_a_bad_value_of_the_environment_names_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REGRAPH_GPU", "first")
    with pytest.raises(BadInput, match=r"see REGRAPH_GPU$"):
        read_settings()


@pytest.mark.usefixtures("folder")
def test_a_caller_hears_of_an_unknown_setting() -> None:
    with pytest.raises(BadInput, match="setting stoer"):
        read_settings(stoer="embedded")


def test_every_setting_is_shown_with_its_origin_and_no_secret(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / FILE).write_text('batch_model = "big"\n')
    user_file().parent.mkdir(parents=True)
    user_file().write_text('openai_url = "http://me:sesame@host/v1"\nbatch_model = "small"\n')
    monkeypatch.setenv("REGRAPH_OPENAI_KEY", "sk-secret")
    code, text, _ = regraph("docs", "--settings", "--json")
    assert code == 0
    found = json.loads(text)
    assert tuple(found) == setting_names()
    assert found["batch_model"] == {"value": "big", "from": "regraph.toml"}
    assert found["openai_url"] == {"value": "http://host/v1", "from": str(user_file())}
    assert found["openai_key"] == {"value": "(set)", "from": "REGRAPH_OPENAI_KEY"}
    assert found["store"] == {"value": "embedded", "from": "default"}
    code, table, _ = regraph("docs", "--settings")
    assert code == 0
    assert table.count("\n") == len(setting_names())
    assert "sesame" not in text + table
    assert "sk-secret" not in text + table


def test_a_broken_file_ends_the_command_with_2_and_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / FILE).write_text("gpu = = 1\n")
    code, _, said = regraph("docs", "--settings")
    assert code == 2
    assert said.startswith("regraph: regraph.toml: not TOML: ")
    assert said.count("\n") == 1
