"""`regraph examples --device`: what is told of a device that nobody measured on."""

from tests.ingest.test_commands import Desk, desk
from tests.ingest.trajectories import measured, row

__all__ = ["desk"]


def test_examples_say_where_they_were_measured_if_not_on_the_device_asked_for(desk: Desk) -> None:
    one = row(1, "Odd trick")
    one["steps"][0]["measurements"] = [measured(0.25)]
    desk.run("ingest", desk.write("file.jsonl", one, row(2, "Other trick")))
    words = ("examples", "start", "odd trick", "--json", "--device")
    done = desk.run(*words, "GP")
    assert (done.code, len(done.json())) == (0, 1)
    assert done.err == "no example of this step was measured on 'GP'; they were on 'GPU'\n"
    assert desk.run(*words, "GPU").err == ""
    done = desk.run("examples", "start", "other trick", "--device", "GPU")
    assert "measured on 'GPU'; they were on no named device" in done.err
