"""The default search carries a technique's transforms out; other methods ask the model."""

from collections.abc import Mapping
from dataclasses import replace

from regraph_kg.models.evaluation import Candidate, EvalReport
from regraph_kg.models.method import MethodSettings, Prompting, SearchLimits
from regraph_kg.models.run import SimulationRecord
from regraph_kg.search.methods.mcgs import McgsSettings, PaperSettings, ReGraphTSettings
from regraph_kg.search.methods.samples import StandardSettings
from tests.search.toy import Toy, code, fenced, header, judge, searching

TWICE = """
technique = "openmp/{name}"
name = "twice"
says = "The factor is another one."
match = "for ($$$head;;) {{ $x *= 2; }}"
becomes = "for ($head) $x *= $by;"
[parameters]
by = [{by}]
"""


def factor(candidate: Candidate) -> EvalReport:
    """Right is what multiplies by less than 10; by 3 it is faster than by 4."""
    for factor, level in (("3;", "0.5"), ("4;", "0.2"), ("10;", "wrong_answer")):
        if f"*= {factor}" in candidate.code:
            return judge(Candidate("openmp", code(level)))
    return judge(candidate)


def run(
    settings: MethodSettings,
    transforms: Mapping[str, tuple[str, ...]],
    limits: Mapping[str, int] | None = None,
) -> tuple[Toy, list[SimulationRecord]]:
    toy = Toy({"start": ["a", "b"]}, lambda key: fenced(code(0.1, key)), factor)
    world = replace(toy.world, transforms=lambda: transforms)
    spend = SearchLimits.model_validate({"verdicts": 8} | dict(limits or {}))
    head = header(settings=settings, prompting=Prompting(), limits=spend)
    return toy, list(searching(world, head))


def test_each_choice_of_a_transform_is_judged_and_the_model_is_not_asked_for_it() -> None:
    text = TWICE.format(name="a", by="10, 4, 3")
    toy, records = run(McgsSettings(free=False), {"openmp/a": (text,)})
    steps = [step for record in records for step in record.steps]
    ruled = [step for step in steps if step.transform]
    assert [step.sample for step in ruled] == [0, 1, 2]
    assert [step.outcome for step in ruled] == ["wrong_answer", "passed", "passed"]
    assert {step.transform for step in ruled} == {"openmp/a/twice"}
    assert {step.technique for step in ruled if step.applied == "asked"} == {"openmp/a"}
    assert not [key for key in toy.asked if key.path == ("openmp/a",)]
    assert [key for key in toy.asked if key.path == ("openmp/b",)]
    assert max(step.speedup or 0 for step in ruled) > 1.6
    by_rule = {code for code in toy.evaluated if "*= " in code and "said" not in code}
    assert by_rule
    for judged, grade in zip(toy.evaluated, toy.grades, strict=True):
        assert grade == ("glance" if judged in by_rule else "screening")


def test_a_rule_s_verdict_is_no_call_and_without_calls_rules_go_on() -> None:
    text = TWICE.format(name="a", by="4, 3")
    toy, records = run(McgsSettings(free=False), {"openmp/a": (text,)}, limits={"calls": 1})
    costs = [step.cost for record in records for step in record.steps]
    assert (sum(cost.by_rule for cost in costs), sum(cost.calls for cost in costs)) == (2, 1)
    assert records[-1].spent == 3
    toy, records = run(McgsSettings(free=False), {"openmp/a": (text,)}, limits={"calls": 0})
    assert (records[-1].spent, toy.asked) == (2, [])


def test_other_methods_end_where_no_calls_are_left() -> None:
    for settings in (ReGraphTSettings(), PaperSettings(), StandardSettings()):
        _, records = run(settings, {}, limits={"calls": 2})
        assert records[-1].spent == 2


def test_without_them_the_model_is_asked() -> None:
    text = TWICE.format(name="a", by="4, 3")
    for settings in (McgsSettings(free=False, transforms=False), ReGraphTSettings()):
        toy, records = run(settings, {"openmp/a": (text,)})
        assert not [s for record in records for s in record.steps if s.transform]
        assert [key for key in toy.asked if key.path == ("openmp/a",)]


def test_a_transform_that_cannot_be_read_stops_nothing() -> None:
    toy, records = run(McgsSettings(free=False), {"openmp/a": ("no transform",)})
    assert records
    assert [key for key in toy.asked if key.path == ("openmp/a",)]


def test_after_three_samples_without_a_gain_the_other_choices_are_left() -> None:
    found = dict[str, int]()
    for by in ("5, 6, 7, 8, 9", "3, 5, 6, 7, 8"):  # nothing but 3 is faster
        text = TWICE.format(name="a", by=by)
        toy = Toy({"start": ["a"]}, lambda key: None, flat)
        spend = SearchLimits(verdicts=20, calls=0)
        head = header(settings=McgsSettings(free=False), prompting=Prompting(), limits=spend)
        world = replace(toy.world, transforms=lambda text=text: {"openmp/a": (text,)})
        found[by] = list(searching(world, head))[-1].spent
    assert list(found.values()) == [3, 5]


def flat(candidate: Candidate) -> EvalReport:
    level = 0.5 if "*= 3;" in candidate.code else -0.1
    return judge(Candidate("openmp", code(level)))


def test_what_undoes_an_earlier_step_costs_no_verdict() -> None:
    forth, back = TWICE.format(name="a", by="4"), TWICE.format(name="b", by="2")
    back = back.replace("$x *= 2;", "$x *= 4;")
    toy = Toy({"start": ["a"], "a": ["b"], "b": ["a"]}, lambda key: None, factor)
    texts = {"openmp/a": (forth,), "openmp/b": (back,)}
    spend = SearchLimits(verdicts=8, calls=0)
    head = header(settings=McgsSettings(free=False), prompting=Prompting(), limits=spend)
    records = list(searching(replace(toy.world, transforms=lambda: texts), head))
    assert [len(toy.evaluated), records[-1].spent] == [1, 1]


def test_what_two_techniques_make_alike_is_judged_once() -> None:
    both = {f"openmp/{name}": (TWICE.format(name=name, by="4"),) for name in ("a", "b")}
    toy, records = run(McgsSettings(free=False), both)
    ruled = [s for record in records for s in record.steps if s.transform]
    assert len(ruled) == len([code for code in toy.evaluated if "*= 4;" in code]) == 1
