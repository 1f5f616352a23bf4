"""Candidates that attack the project's tests, its bench, the judge and this machine.

Each runs in the real sandbox. What they try is in their code; where they get it, they say so and
abort, or the judge does not survive.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from regraph_kg.errors import BadInput
from regraph_kg.evaluation.evaluate import Judge
from regraph_kg.evaluation.problem.problem import load_problem
from regraph_kg.models.evaluation import Candidate, Outcome

from . import projects
from .conftest import TIMED, Judged, once

pytestmark = pytest.mark.xdist_group("project")  # they share a judge

HEADERS = """\
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
"""


def before_main(statements: str) -> str:
    """The kernel, and what happens before main in each process that it is linked into."""
    return f"{HEADERS}static int now = [] {{ {statements} return 0; }}();\n{projects.KERNEL}"


DEEP = 'for (int i = 0; i < 1100; ++i) if (mkdir("d", 0755) || chdir("d")) abort();'
CLOSED = 'mkdir("x", 0755); mkdir("x/y", 0); chmod("x", 0); chmod(".", 0);'


@pytest.mark.parametrize("attack", [DEEP, CLOSED], ids=["without end", "without rights"])
def test_what_folders_a_candidate_leaves_ends_no_judge(judged: Judged, attack: str) -> None:
    judged(before_main(attack))
    after = judged(projects.KERNEL)
    assert after.outcome in TIMED, after.diagnosis


REMOVES = """\
import os, sys
from pathlib import Path
from regraph_kg.evaluation.command_judge import remove
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
work = Path(sys.argv[1], "work")
(work / "x" / "y").mkdir(parents=True)
for one in (work / "x" / "y", work / "x", work):
    one.chmod(0)
remove(work)
assert not work.exists()
"""


def test_an_ordinary_user_removes_what_a_candidate_closed() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o777)
        ran = subprocess.run(
            [sys.executable, "-c", REMOVES, folder], capture_output=True, check=False
        )
    assert ran.returncode == 0, ran.stderr


def test_a_build_that_runs_the_candidate_keeps_no_tree_that_cannot_be_copied(
    tmp_path: Path,
) -> None:
    problem = projects.make(tmp_path)
    projects.edit(problem, '["make -s"]', '["make -s", "./test"]')
    report = once(problem, before_main(DEEP))
    assert report.outcome is Outcome.SUSPICIOUS


GETS = {
    "the limits of who watches": "[] { rlimit none = {0, 0}; for (int p = 1; p < 4; ++p)"
    " if (p != getpid() && !prlimit(p, RLIMIT_FSIZE, &none, nullptr)) return true;"
    " return false; }()",
    "an interrupt of who watches": "kill(1, SIGINT) && false",
    "a network": "socket(AF_INET, SOCK_STREAM, 0) >= 0",
    "the user's project": 'open("OWN", O_WRONLY) >= 0',
    "the user's notes": 'open("HOME/notes", O_RDONLY) >= 0',
    "the user's notes by a link of the project": 'open("src/secret.h", O_RDONLY) >= 0',
    "a file of the machine": 'open("/etc/passwd", O_RDONLY) >= 0',
    "another file of the machine": 'open("/etc/hostname", O_RDONLY) >= 0',
    **{
        f"{place} of another folder": f'open("{place}", O_WRONLY | O_CREAT, 0755) >= 0'
        for place in ("../built/bench", "../unchanged/x", "../x", "/x")
    },
    "what the run before wrote": 'std::strstr(program_invocation_name, "bench")'
    ' && (open("kept", O_RDONLY) >= 0 || open("kept", O_WRONLY | O_CREAT, 0644) < 0)',
}
"""What a candidate may want -> the condition that it has got it.

What a run wrote would be results that do not depend on the seed, or another bench.
"""
OVERWRITES = """\
if (FILE* bench = std::fopen("bench", "w")) std::fputs("#!/bin/sh\\necho 1\\n", bench);
"""


@pytest.fixture(scope="module")
def open_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The problem of a project with a link out of it, to notes in the user's home folder."""
    folder = tmp_path_factory.mktemp("open")
    problem = projects.make(folder)
    (folder / "home").mkdir()
    (folder / "home" / "notes").write_text("int correct_horse_battery = 1;\n")
    (folder / "project" / "src" / "secret.h").symlink_to(folder / "home" / "notes")
    return problem


def test_a_candidate_gets_nothing_but_its_own_copy(
    open_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link in the project that leads out of it leads nowhere.

    Its text ends with half a character, as a model may send it.
    """
    home, own = open_project.parent / "home", open_project.parent / "project" / "checks" / "test.c"
    monkeypatch.setenv("HOME", str(home))
    tried = " ".join(
        f'if ({gets}) std::fputs("GOT {what}", stderr), abort();' for what, gets in GETS.items()
    )
    code = before_main(OVERWRITES + tried.replace("HOME", str(home)).replace("OWN", str(own)))
    with Judge(open_project.parent / "cache") as judge:
        found = load_problem(open_project)
        for name in ("/etc/passwd", "/etc/hostname", "secret.h", f"{home}/notes"):
            text = f'#include "{name}"\n{projects.KERNEL}'
            included = judge.evaluate(Candidate("openmp", text), found)
            assert included.outcome is Outcome.COMPILE_FAILED
            assert any(said in included.diagnosis for said in ("No such file", "Permission denied"))
            assert "correct_horse" not in included.diagnosis
        report = judge.evaluate(Candidate("openmp", code + "// \ud800\n"), found)
        assert report.outcome in TIMED, report.diagnosis
        after = judge.evaluate(Candidate("openmp", projects.KERNEL), found)
        assert after.outcome in TIMED, after.diagnosis
    assert own.read_text() == projects.TEST


def test_ending_who_watches_is_a_crash_and_no_fault_of_the_machine(judged: Judged) -> None:
    report = judged(before_main("if (!kill(1, SIGTERM)) pause();"))
    if "namespaces" not in report.facts["sandbox"]:  # no signal reaches it
        assert report.outcome in TIMED
        return
    assert report.outcome is Outcome.CRASHED
    assert "signal 9" in report.diagnosis


def test_a_process_that_is_left_behind_does_not_outlive_the_command(tmp_path: Path) -> None:
    """It would exchange the bench for a faster one once the build, or the test, is over."""
    problem = projects.make(tmp_path)
    projects.edit(problem, '["make -s"]', '["make -s", "./test"]')
    later = (
        "if (!fork()) { signal(SIGTERM, SIG_IGN); close(1); close(2); setsid(); usleep(300000);"
        ' for (;;) { unlink("bench"); FILE* f = std::fopen("bench", "w"); if (!f) _exit(1);'
        ' std::fputs("#!/bin/sh\\necho 1\\n", f); std::fclose(f); chmod("bench", 0755);'
        " usleep(1000); } }"
    )
    report = once(problem, before_main(later))
    assert report.outcome in TIMED, report.diagnosis
    assert report.speedup is not None
    assert report.speedup < 5, "a bench that only prints is 20 times as fast"


def test_processes_may_form_groups_as_those_of_ninja_do_where_they_see_no_others(
    judged: Judged,
) -> None:
    report = judged(
        before_main(
            "pid_t one = fork(); if (!one) _exit(setpgid(0, 0)); int left;"
            " waitpid(one, &left, 0); if (left) abort();"
        )
    )
    apart = "namespaces" in report.facts["sandbox"]
    assert report.outcome in (TIMED if apart else {Outcome.CRASHED}), report.diagnosis


def test_gigabytes_that_are_printed_cost_a_verdict(judged: Judged) -> None:
    report = judged(
        before_main(
            "std::string much(1 << 20, 'x'); for (int i = 0; i < 2048; ++i)"
            " if (write(1, much.data(), much.size()) < 0) break;"
        )
    )
    assert report.outcome in {Outcome.SUSPICIOUS, Outcome.CRASHED}
    assert len(report.diagnosis) < 2000


def test_a_bench_that_prints_more_than_is_compared_is_refused(tmp_path: Path) -> None:
    """Only the end of it would be: code could leave out what the rest shows."""
    bench = projects.BENCH.replace(
        "double sum = 0;",
        'for (int k = 0; k < 27 * n; ++k) printf("%.9e\\n", y[k % n]); double sum = 0;',
    )
    problem = projects.make(tmp_path, bench=bench)
    with pytest.raises(BadInput):
        once(problem, projects.KERNEL)
