"""What `regraph ingest` takes, keeps and says: files at once, rejected lines."""

import json
from pathlib import Path

from tests.ingest.test_commands import Desk, desk
from tests.ingest.trajectories import row

__all__ = ["desk"]


def test_rejected_lines_are_listed_whatever_their_bytes_and_length(desk: Desk) -> None:
    rejected = [b'{"caf\xe9"', b"not JSON at all", "{\u00e9".encode() * 3_000_000]
    file = desk.write("file.jsonl", row(1))
    file.write_bytes(b"\n".join([file.read_bytes().strip(), *rejected]) + b"\n")
    assert desk.run("ingest", file).code == 0
    text = Path(f"{file}.rejected.jsonl").read_text(encoding="utf-8")
    listed = [json.loads(line) for line in text.splitlines()]
    assert [one["line"] for one in listed] == [2, 3, 4]
    assert [one["reason"][:11] for one in listed] == ["not UTF-8 a", "broken JSON", "longer than"]
