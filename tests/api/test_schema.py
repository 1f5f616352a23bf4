"""`regraph schema COMMAND` tells the form of what the command prints."""

import json

import jsonschema
import pytest

from regraph_kg.cli.schema import HOMES
from tests.ingest.test_commands import Desk, desk
from tests.ingest.trajectories import measured, row

__all__ = ["desk"]


def test_what_next_prints_is_of_its_schema(desk: Desk) -> None:
    one = row(1, "Odd trick")
    one["steps"][0]["measurements"] = [measured(0.25)]
    desk.run("ingest", desk.write("file.jsonl", one))
    (desk.folder / "mine.cu").write_text("int x;")
    told = desk.run("next", "mine.cu", "--target", "cuda", "--json").json()
    schema = desk.run("schema", "next").json()
    jsonschema.validate(told, schema)
    assert schema["properties"]["schema_version"]["const"] == 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(told | {"steps": [{"technique": 1}]}, schema)


@pytest.mark.parametrize("command", HOMES)
def test_every_schema_is_one(desk: Desk, command: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(desk.run("schema", command).out))


def test_an_unknown_command_is_told_which_there_are(desk: Desk) -> None:
    done = desk.run("schema", "nxet")
    assert done.code == 2
    assert done.err == "regraph: no schema of 'nxet'; there are: evaluate, next, optimize\n"
