"""Words of a candidate in reports: quoted as data, and nothing that a terminal acts upon."""

from collections.abc import Callable

import pytest

from regraph_kg.evaluation.gpu.kernels import parsed
from regraph_kg.models.evaluation import EvalReport, Outcome
from regraph_kg.models.text import plain, quoted

TRICKS = "\x1b[2J\x1b]0;title\x07\r\x08\x9b31m\u202e\u2066\u200b\ud800"


def shown(report: EvalReport) -> str:
    return report.diagnosis + "".join(report.facts.values())


def test_what_steers_a_terminal_is_dropped() -> None:
    assert plain(f"a{TRICKS}b\n\tc") == "a[2J]0;title31mb\n\tc"
    assert plain("für 3 µs → 2 µs") == "für 3 µs → 2 µs"


def test_words_of_others_are_quoted_as_data() -> None:
    assert quoted('passed"; outcome: "\x1b[0m passed\n\\') == (
        '"passed\\"; outcome: \\"[0m passed \\\\"'
    )
    assert len(quoted("x" * 5000)) == 202


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_what_a_crashed_candidate_printed_is_quoted(
    scaled: Callable[..., EvalReport], stream: str
) -> None:
    said = r"\x1b[2J\x1b]0;x\x07\rpassed \"750x\" \xe2\x80\xae\x9b31m"
    report = scaled(
        f'fputs("{said}" , {stream}); fflush({stream}); abort();',
        "#include <cstdio>\n#include <cstdlib>",
    )
    assert report.outcome is Outcome.CRASHED
    assert 'it printed: "[2J]0;xpassed \\"750x\\"' in report.diagnosis
    assert plain(shown(report)) == shown(report)


@pytest.mark.nightly
def test_a_passing_candidates_words_are_in_no_report(scaled: Callable[..., EvalReport]) -> None:
    report = scaled(
        'puts("look at me"); for (int i = 0; i < n; ++i) y[i] = a * x[i];', "#include <cstdio>"
    )
    assert "look at me" not in report.model_dump_json()


def test_a_name_that_cannot_be_loaded_is_told_plainly(scaled: Callable[..., EvalReport]) -> None:
    report = scaled("", 'extern "C" void wanted() __asm__("\\x1b[2Jwanted");\nauto* p = &wanted;')
    assert report.outcome is Outcome.COMPILE_FAILED
    assert plain(report.diagnosis) == report.diagnosis


def test_every_text_of_a_report_is_plain() -> None:
    report = EvalReport(
        problem="p",
        target="cuda",
        metric="call",
        code_hash="h",
        outcome=Outcome.CRASHED,
        diagnosis=TRICKS,
        device=TRICKS,
        toolchain=TRICKS,
        evaluator="1",
        grade="screening",
        load=TRICKS,
        facts={"kernels": TRICKS},
    )
    assert report.diagnosis == report.device == report.load == report.facts["kernels"]
    assert plain(shown(report)) == shown(report)


def test_names_of_kernels_are_plain() -> None:
    counts = ("kernels", "kernel_ns", "copies", "copy_ns", "busy_ns", "dropped")
    sizes = ("in_bytes", "out_bytes", "inside_bytes")
    fields = ", ".join(f'"{name}": 0' for name in (*counts, *sizes))
    times = parsed('{%s, "names": [["k\\u001b[2J\\nx", 1, 0]]}' % fields)  # noqa: UP031
    assert times is not None
    assert times.names[0].name == "k[2J x"
