"""`regraph techniques audit`, `mend`, `show --log` as they are typed, on the embedded store."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from regraph_kg.graph import GraphStore
from regraph_kg.models.graph import MergePlan, Relabelled
from regraph_kg.models.technique import Technique
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store
from tests.contract.plans import failure, plan
from tests.in_process import Ended, typed
from tests.ingest.trajectories import row, write
from tests.stores import environment


def named(slug: str, name: str, **fields: Any) -> Technique:
    return Technique(id=f"cuda/{slug}", name=name, target="cuda", **fields)


TILING = named(
    "tiling", "Shared memory tiling", definition="Stage tiles.", aliases=("Padded tile",)
)
PADDING = named("padding", "Bank conflict padding", definition="Pad.", aliases=("pad",))
HOSTILE = 'it\'s "odd" $(rm x) `y`\n\x1b[2J\u2028' + "z" * 10_000


@dataclass(frozen=True)
class Desk:
    """The command, and the graph that it works on."""

    patch: pytest.MonkeyPatch
    store: GraphStore

    def run(self, *words: str) -> Ended:
        """`regraph techniques WORDS` in this process."""
        return self.regraph("techniques", *words)

    def mend(self, *words: str) -> Ended:
        """`regraph techniques mend WORDS` in this process."""
        return self.run("mend", *words)

    def regraph(self, *words: str | Path) -> Ended:
        """`regraph WORDS` in this process."""
        return typed(*words)

    def audit(self) -> list[dict[str, Any]]:
        return [one for cluster in self.clusters() for one in cluster["findings"]]

    def clusters(self) -> list[dict[str, Any]]:
        pages = json.loads(self.run("audit", "--json").out)
        return [one for page in pages for one in page["clusters"]]

    def follow(self, command: str) -> Ended:
        """Type a command that an audit has printed, as a shell would read it."""
        regraph, techniques, *words = shell_words(command)
        assert (regraph, techniques) == ("regraph", "techniques")
        return self.run(*words)

    def learn(self, label: str, to: Technique, **how: Any) -> None:
        """Merge one step called `label`, which was taken for `to`."""
        base = plan("a", code=label[:20], problem=f"p {label[:9]}")
        step = base.trajectory.steps[0].model_copy(update={"label": label[:200]})
        trajectory = base.trajectory.model_copy(update={"steps": (step,)})
        verdict = Relabelled(label[:200], to.id, how.pop("stage", "lexical"), **how)
        taught = to.model_copy(update={"aliases": (*to.aliases, label)})
        self.store.merge([MergePlan(trajectory, (verdict,), new=(taught,))])


def shell_words(command: str) -> list[str]:
    """What a shell makes of a command line."""
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True
    )
    return done.stdout.decode().split("\0")[:-1]


@pytest.fixture
def desk(
    embedded_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Desk]:
    for name, value in environment(embedded_settings).items():
        monkeypatch.setenv(name, value)
    with closing(open_store(embedded_settings)) as store:
        store.add_techniques([TILING, PADDING])
        yield Desk(monkeypatch, store)


def test_a_clean_vocabulary_ends_with_0(desk: Desk) -> None:
    done = desk.run("audit")
    assert (done.code, done.out) == (0, "the vocabulary is clean: nothing to look at\n")
    assert desk.audit() == []


def test_an_alias_that_was_hardly_recognized_moves_by_the_command_that_the_audit_prints(
    desk: Desk,
) -> None:
    desk.learn("Padded rows", TILING, score=0.52, runner_up=PADDING.id, runner_up_score=0.49)
    desk.learn("Sure name", TILING, score=0.9, runner_up=PADDING.id, runner_up_score=0.2)
    done = desk.run("audit")
    assert done.code == 1
    (concern,) = desk.audit()
    assert (concern["kind"], concern["about"], concern["score"]) == (
        "low-margin",
        "Padded rows",
        0.03,
    )
    move, split, keep = concern["commands"]
    assert all(f"  {command}\n" in done.out for command in (move, split, keep))
    assert desk.follow(move).code == 0
    assert desk.audit() == []
    assert len(desk.store.examples("cuda/start", "cuda/padding")) == 1
    assert len(desk.store.examples("cuda/start", "cuda/tiling")) == 1


def test_what_is_kept_is_not_shown_again_until_that_is_undone(desk: Desk) -> None:
    desk.learn("Padded rows", TILING, score=0.52, runner_up=PADDING.id, runner_up_score=0.49)
    (before,) = desk.audit()
    assert desk.follow(before["commands"][-1]).code == 0
    assert desk.run("audit").code == 0
    desk.mend("undo")
    assert desk.audit() == [before]


def new(slug: str, name: str, **fields: Any) -> Technique:
    """As an ingest makes it."""
    return named(slug, name, created="2026-11-21T10:00:00Z", review=True, **fields)


def test_two_techniques_with_like_names_are_suspected_and_merged_into_the_known_one(
    desk: Desk,
) -> None:
    desk.learn("Shared memory tilings of blocks", new("smt", "Shared memory tilings of blocks"))
    (concern,) = desk.audit()
    assert (concern["kind"], concern["techniques"]) == ("suspect", ["cuda/tiling", "cuda/smt"])
    assert (concern["examples"], concern["labels"][1]) == (
        [0, 1],
        ["Shared memory tilings of blocks"],
    )
    assert desk.follow(concern["commands"][0]).code == 0
    assert desk.audit() == []
    assert [item.id for item in desk.store.techniques()] == ["cuda/padding", "cuda/tiling"]


def test_a_new_technique_waits_for_a_look(desk: Desk) -> None:
    desk.learn("Odd trick", new("odd-trick", "Odd trick"))
    (concern,) = desk.audit()
    assert (concern["kind"], concern["techniques"]) == ("review", ["cuda/odd-trick"])
    assert desk.follow(concern["commands"][0]).code == 0
    (concern,) = desk.audit()
    assert concern["kind"] == "undescribed"
    assert desk.mend("describe", "cuda/odd-trick", "--definition", "...").code == 2
    assert desk.mend("describe", "cuda/odd-trick", "--definition", "Do it oddly.").code == 0
    assert desk.audit() == []
    assert desk.store.techniques()[0].definition == "Do it oddly."


def test_what_nothing_leads_to_is_an_orphan_unless_the_vocabulary_ships_it(desk: Desk) -> None:
    desk.store.add_techniques([new("lost", "Quirk").model_copy(update={"review": False})])
    (concern,) = desk.audit()
    assert (concern["kind"], concern["techniques"]) == ("orphan", ["cuda/lost"])
    assert desk.follow(concern["commands"][0]).code == 0
    assert desk.audit() == []


def test_a_name_of_two_techniques_is_taken_from_one(desk: Desk) -> None:
    desk.store.add_techniques([PADDING.model_copy(update={"aliases": ("Padded Tiles",)})])
    concern = desk.audit()[0]
    assert (concern["kind"], concern["about"]) == ("shared-name", "Padded tile")
    assert desk.follow(concern["commands"][0]).code == 0
    assert [one for one in desk.audit() if one["kind"] == "shared-name"] == []


def test_a_merge_says_what_moved_and_how_to_take_it_back(desk: Desk) -> None:
    desk.store.merge([plan("ab", failures=[failure("b", 1)]), plan("b", problem="sum")])
    done = desk.mend("merge", "cuda/a", "cuda/b", "--why", "one thing", "--who", "Ada")
    assert done.out.splitlines() == [
        "curation 1: merged cuda/b into cuda/a",
        "2 examples and 1 failure moved",
        "to take it back: regraph techniques mend undo 1",
    ]
    assert desk.mend("undo", "--who", "Ada").out.startswith("curation 2: undid 1: merged cuda/b")
    log = [line.rstrip() for line in desk.run("show", "--log").out.splitlines()]
    assert [line for line in log if "Z" not in line and "+00:00" not in line] == [
        "   merged cuda/b into cuda/a (2 examples, 1 failure moved)",
        "   why: one thing",
        "   undone by 2",
        "   undid 1: merged cuda/b into cuda/a (2 examples, 1 failure moved)",
    ]
    assert log[0].endswith("  Ada")
    told = json.loads(desk.run("show", "cuda/a", "--log", "--json").out)
    assert [one["number"] for one in told["curations"]] == [1, 2]
    assert json.loads(desk.run("show", "cuda/zzz", "--log", "--json").out) == {
        "curations": [],
        "relabels": None,
    }


def test_the_log_tells_relabellings_on_request(desk: Desk) -> None:
    assert desk.run("show", "--log").out == "nothing has been curated\n"
    desk.learn("Padded rows", TILING, score=0.52, runner_up=PADDING.id, runner_up_score=0.49)
    (line,) = desk.run("show", "--log", "--relabels").out.splitlines()
    assert "Padded rows -> cuda/tiling (lexical 0.52, then cuda/padding 0.49)" in line
    (told,) = json.loads(desk.run("show", "--log", "--relabels", "--json").out)["relabels"]
    assert (told["label"], told["runner_up_score"]) == ("Padded rows", 0.49)


def test_a_split_takes_its_name_from_its_first_alias_unless_told(desk: Desk) -> None:
    desk.store.merge([plan("ab"), plan("c", problem="sum")])
    desk.mend("merge", "cuda/a", "cuda/b", "cuda/c", "--why", "test")
    assert desk.mend("split", "cuda/a", "--aliases", "label c", "--why", "test").code == 0
    told = ("--name", "Named", "--id", "cuda/given", "--definition", "What.", "--why", "test")
    assert desk.mend("split", "cuda/a", "--aliases", "Label b", *told).code == 0
    found = {technique.id: technique for technique in desk.store.techniques()}
    assert found["cuda/label-c"].name == "Label c"
    assert (found["cuda/given"].name, found["cuda/given"].definition) == ("Named", "What.")
    assert desk.mend("rename", "cuda/given", "Other", "--id", "cuda/other", "--why", "w").code == 0
    assert "cuda/other" in {technique.id for technique in desk.store.techniques()}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("merge", "cuda/tiling", "cuda/padding"), "--why"),
        (("drop", "cuda/tiling", "--why", ""), "say why"),
        (("merge", "cuda/tiling", "bank conflict padding", "--why", "w"), "give the id"),
        (("merge", "cuda/tiling", "cuda/paddin", "--why", "w"), "near it: cuda/padding"),
        (("merge", "cuda/tiling", HOSTILE, "--why", "w"), "is not in the graph"),
        (
            ("split", "cuda/tiling", "--aliases", "a", "--to", "x", "--name", "n", "--why", "w"),
            "--to",
        ),
        (("split", "cuda/tiling", "--aliases", HOSTILE, "--why", "w"), "neither an alias nor"),
        (("rename", "cuda/tiling", "Bank-conflict padding", "--why", "w"), "is cuda/padding's"),
        (("rename", "cuda/tiling", HOSTILE, "--why", "w"), "printable characters"),
        (("describe", "cuda/tiling"), "--definition"),
        (("keep", "cuda/zzz"), "is not in the graph"),
        (("undo",), "no curation is left"),
        (("undo", "x"), "valid integer"),
        (("merge", "cuda/tiling", "cuda/padding", "--why", "w" * 3000), "shorten --why"),
    ],
    ids=lambda one: " ".join(one)[:40] if isinstance(one, tuple) else None,
)
def test_bad_input_is_one_line_and_ends_with_2(
    desk: Desk, words: tuple[str, ...], said: str
) -> None:
    done = desk.mend(*words)
    assert done.code == 2
    assert said in done.err
    assert len(done.err.splitlines()) == 1
    assert done.err[:-1].isprintable()
    assert len(done.err) < 500
    assert [item.id for item in desk.store.techniques()] == ["cuda/padding", "cuda/tiling"]


def test_hostile_names_steer_neither_terminal_nor_shell(desk: Desk) -> None:
    desk.store.add_techniques(
        [one.model_copy(update={"aliases": (HOSTILE,)}) for one in (TILING, PADDING)]
    )
    printed = desk.run("audit").out
    assert all(line.isprintable() for line in printed.splitlines())
    shared = desk.audit()[0]
    assert shared["kind"] == "shared-name"
    assert shell_words(shared["commands"][0])[6] == HOSTILE
    assert desk.follow(shared["commands"][0]).code == 0
    told = ("--why", HOSTILE[:999], "--who", "\x1b[31mEve")
    desk.mend("merge", "cuda/tiling", "cuda/padding", *told)
    shown = desk.run("show", "--log").out
    assert all(line.isprintable() for line in shown.splitlines())
    assert HOSTILE in desk.store.techniques()[0].aliases


def test_only_the_first_of_many_findings_are_printed(desk: Desk) -> None:
    lost = [new(f"lost-{i}", f"{chr(97 + i) * 4} {chr(98 + i) * 5}") for i in range(22)]
    desk.store.add_techniques([one.model_copy(update={"review": False}) for one in lost])
    shown = desk.run("audit").out
    assert shown.count("\norphan: ") == 8
    assert shown.count("and 7 findings more (--json)") == 2
    assert len(desk.audit()) == 22


def test_files_ingested_again_land_where_the_names_lead_now(
    desk: Desk, tmp_path: Path, embedded_settings: Settings
) -> None:
    """Vocabulary file, old file and new file: none of them brings back what was curated away."""
    (tmp_path / "techniques.json").write_text(
        json.dumps([one.model_dump() for one in (TILING, PADDING)])
    )
    desk.patch.setenv("REGRAPH_CORPUS", str(tmp_path))
    old = write(tmp_path / "old.jsonl", row(1, "Pad", "Padded tiles"), row(2, "Odd trick"))
    new_steps = [row(3, "pads", "Padded tile", "odd tricks"), row(4, "Bank conflict paddings")]
    given = row(5, "Whatever")
    given["steps"][0]["technique"] = "cuda/padding"
    new_file = write(tmp_path / "new.jsonl", *new_steps, given)
    assert desk.regraph("ingest", old, "--relabel", "exact").code == 0

    desk.mend("merge", "cuda/tiling", "cuda/padding", "--why", "test")
    desk.mend("split", "cuda/tiling", "--aliases", "padded tile", "--why", "test")
    desk.mend("rename", "cuda/odd-trick", "Fine trick", "--id", "cuda/fine", "--why", "test")
    before = desk.store.techniques()
    again = json.loads(desk.regraph("ingest", "--json", old, "--relabel", "exact").out)
    assert (again["added"], again["known"], again["techniques"]) == (0, 2, 0)
    assert desk.store.techniques() == before

    assert desk.regraph("ingest", new_file, "--relabel", "exact").code == 0
    assert [technique.id for technique in desk.store.techniques()] == [one.id for one in before]
    paths = {
        one.steps[0].label: [step.technique for step in one.steps] for one in desk.store.export()
    }
    assert paths["pads"] == ["cuda/tiling", "cuda/padded-tile", "cuda/fine"]
    assert paths["Bank conflict paddings"] == ["cuda/tiling"]
    assert paths["Whatever"] == ["cuda/tiling"]
    assert desk.store.check() == ()
    for _ in range(3):
        assert desk.mend("undo").code == 0
    paths = {
        one.steps[0].label: [step.technique for step in one.steps] for one in desk.store.export()
    }
    assert paths["pads"] == ["cuda/padding", "cuda/tiling", "cuda/odd-trick"]
    assert paths["Pad"] == ["cuda/padding", "cuda/tiling"]
    assert desk.store.check() == ()


def suspects(desk: Desk, count: int) -> None:
    """Techniques of which an ingest made two each."""
    for number, name in enumerate(("Warp voting", "Index packing", "Mask blending")[:count]):
        other = f"{name} by {name.split()[0].lower()}s"
        for made, label in ((f"{number}-one", name), (f"{number}-two", other)):
            desk.learn(label, new(made, label))


def test_a_page_is_accepted_and_taken_back_as_a_whole(desk: Desk) -> None:
    suspects(desk, 3)
    before = list(desk.store.export())
    shown = desk.run("audit").out
    (command,) = [line for line in shown.splitlines() if "techniques mend accept" in line]
    planned = desk.follow(f"{command.strip()} --dry-run").out
    assert planned.count("regraph techniques mend merge") == 3
    assert list(desk.store.export()) == before
    done = desk.follow(command.strip())
    assert (done.code, done.out.count("curation ")) == (0, planned.count("\n"))
    assert [one for one in desk.audit() if one["kind"] == "suspect"] == []
    assert desk.store.check() == ()
    (back,) = re.findall(r"regraph techniques mend undo [\d ]+", done.out)
    assert desk.follow(back.strip()).code == 0
    assert list(desk.store.export()) == before


def test_a_cluster_is_accepted_by_its_own_token(desk: Desk) -> None:
    suspects(desk, 2)
    one, other = (it for it in desk.clusters() if it["findings"][0]["kind"] == "suspect")
    assert desk.mend("accept", one["token"]).code == 0
    (left,) = [it for it in desk.clusters() if it["findings"][0]["kind"] == "suspect"]
    assert left["techniques"] == other["techniques"]


def test_a_token_of_what_has_changed_since_is_refused_and_nothing_is_done(desk: Desk) -> None:
    suspects(desk, 2)
    one, other = (it for it in desk.clusters() if it["findings"][0]["kind"] == "suspect")
    desk.store.merge([plan(["0-one"], problem="later", code="int later;")])
    desk.store.merge([plan(["1-one"], problem="later", code="int later;")])
    for tokens in ([one["token"]], ["nonsense"], [other["token"], one["token"]]):
        refused = desk.mend("accept", *tokens)
        assert refused.code == 2
        assert "regraph techniques audit" in refused.err
    assert desk.run("show", "--log").out == "nothing has been curated\n"


def test_what_a_person_must_decide_is_not_accepted(desk: Desk) -> None:
    desk.store.add_techniques([PADDING.model_copy(update={"aliases": ("Padded Tiles",)})])
    (shared,) = [it for it in desk.clusters() if it["findings"][0]["kind"] == "shared-name"]
    refused = desk.mend("accept", shared["token"])
    assert (refused.code, "take one of its commands" in refused.err) == (2, True)


def test_a_page_that_is_not_there_is_refused(desk: Desk) -> None:
    suspects(desk, 1)
    assert "the audit has 1 page" in desk.run("audit", "--page", "7").err
