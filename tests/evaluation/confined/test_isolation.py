"""Each confinement alone stops what it is there for, and without it the thing happens."""

import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from regraph_kg.evaluation import confined
from regraph_kg.evaluation.compile.compile import HOST_FLAGS, Compiler
from regraph_kg.evaluation.compile.toolchain import find_gcc
from regraph_kg.evaluation.confined import probe
from regraph_kg.evaluation.rules import Defences, Failure, JudgeLimits
from regraph_kg.evaluation.worker.shared_memory import Layout
from regraph_kg.evaluation.worker.spawn import Program, Surroundings
from regraph_kg.evaluation.worker.supervisor import Worker
from tests.requirement import require

from ..conftest import problem_named

EVALUATION = str(Path(confined.FOLDER).parent)
SEALED = 16
CONFINEMENTS = ("sandbox", "landlock", "namespaces", "own_root", "hidden_memory")
ATTEMPTS = (Path(__file__).parent / "attempts.h").read_text(encoding="utf-8")
RIGHT = "for (int i = 0; i < n; ++i) y[i] = a * x[i];"
EXECUTED = 7  # exit code of the program that `executes` runs


@dataclass(frozen=True)
class Bait:
    """What a candidate may try to reach, as arguments of the functions of attempts.h."""

    secret: Path
    port: int
    abstract: str
    key: int
    sleeper: int  # a process of ours that a candidate knows

    def filled(self, attempt: str) -> str:
        values = {"SECRET": f'"{self.secret}"', "PORT": str(self.port), "KEY": str(self.key)}
        values |= {"NAME": f'"{self.abstract}"', "SLEEPER": str(self.sleeper)}
        for name, value in values.items():
            attempt = attempt.replace(name, value)
        return attempt


@dataclass(frozen=True)
class Run:
    """What came of one call: whether the attempt succeeded, and which confinements held."""

    succeeded: bool
    confined: int
    failure: Failure | None


Tried = Callable[..., Run]


@pytest.fixture(scope="module", autouse=True)
def kernel() -> None:
    """One that has all of it, asked without worker.py: else nothing here can be shown."""
    landlock_abi = ctypes.CDLL(None).syscall(444, None, 0, 1)
    unshared = subprocess.run(["unshare", "--user", "--net", "--ipc", "true"], check=False)
    if landlock_abi < 6:
        require("sandbox", f"landlock's ABI is {landlock_abi} here, 6 has all that is tested")
    if unshared.returncode:
        require("sandbox", "namespaces are refused here")


@pytest.fixture
def bait(tmp_path: Path) -> Iterator[Bait]:
    secret = tmp_path / "secret"
    secret.write_text("secret\n")
    name = f"regraph-test-{os.getpid()}"
    libc = ctypes.CDLL(None, use_errno=True)
    key = os.getpid() | 0x10000000
    segment = libc.shmget(key, 4096, 0o1600)
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        abstract.bind(f"\0{name}")
        abstract.listen()
        with subprocess.Popen(["sleep", "600"]) as sleeper:
            yield Bait(secret, listener.getsockname()[1], name, key, sleeper.pid)
            sleeper.kill()
    libc.shmctl(segment, 0, None)


@pytest.fixture
def tried(cache: Path, bait: Bait) -> Tried:
    """Run an expression over attempts.h in a candidate: tried(expression, landlock=False)."""
    compiler = Compiler(cache / "compiled", find_gcc(), JudgeLimits())
    problem = problem_named("scale")

    def run(attempt: str, prefix: tuple[str, ...] = (), **defences: bool) -> Run:
        body = f"{RIGHT} y[0] = {bait.filled(attempt)};"
        head = 'extern "C" void scale(const float* x, float* y, float a, int n)'
        library = compiler.host(f"{ATTEMPTS}{head} {{{body}}}", (*HOST_FLAGS, "-fopenmp"))
        assert isinstance(library, Path), library
        layout = Layout(problem, 64)
        call = layout.call({"n": 7})
        shared = layout.build()
        program = Program(compiler.harness(problem, None), library, "scale")
        where = Surroundings(prefix=prefix)
        with Worker(program, shared, Defences(**defences), JudgeLimits(), 2, where) as worker:
            failure = None
            try:
                worker.start()
                worker.call([call.row], 5.0)
            except Failure as failed:
                failure = failed
        executed = failure is not None and f"exit code {EXECUTED}" in failure.diagnosis
        value = float(shared.view(call.places["y"])[0])
        confined = int(shared.control.confined) & ~SEALED  # which only new kernels can
        shared.close()
        return Run(value == 1 or executed, confined, failure)

    return run


@dataclass(frozen=True)
class Case:
    """An attempt, and the defences of which each alone stops it."""

    attempt: str
    layers: tuple[str, ...]

    def __str__(self) -> str:
        return self.attempt

    def only(self, kept: str | None) -> dict[str, bool]:
        """Every layer off but the one kept."""
        return {layer: layer == kept for layer in self.layers}


IS_ROOT = os.geteuid() == 0
HIDING = "sandbox" if IS_ROOT else "hidden_memory"
"""Root looks into the judge by its capabilities; an ordinary user into processes of its own."""
CASES = [
    Case("connects(PORT)", ("sandbox", "landlock", "namespaces")),
    Case("connects_abstract(NAME)", ("sandbox", "landlock", "namespaces")),
    Case("finds_segment(KEY)", ("sandbox", "namespaces")),
    Case("reads(SECRET)", ("landlock", "own_root")),
    Case('reads("/etc/passwd")', ("landlock", "own_root")),
    Case("reads(parents_environment())", (HIDING, "landlock", "namespaces", "own_root")),
    Case("overwrites(SECRET)", ("sandbox", "landlock", "own_root")),
    Case("lists_folder_of(SECRET)", ("landlock", "own_root")),
    Case("sees(SECRET)", ("own_root",)),
    Case("executes()", ("sandbox", "landlock", "own_root")),
    Case("sets_attribute(SECRET)", ("sandbox", "own_root")),
    Case("sets_acl(SECRET)", ("sandbox", "own_root")),
    Case("sets_mode(SECRET)", ("sandbox", "own_root")),
    Case("sets_times(SECRET)", ("sandbox", "own_root")),
    Case("watches(SECRET)", ("sandbox", "own_root")),
    Case("is_told_of_changes(SECRET)", ("sandbox", "landlock", "own_root")),
    Case("makes_memory_file()", ("sandbox",)),
    Case("sets_timer()", ("sandbox",)),
    Case("sets_interval_timer()", ("sandbox",)),
    Case("sets_timer_file()", ("sandbox",)),
    Case("owns_output()", ("sandbox",)),
    Case("chooses_signal_of_output()", ("sandbox",)),
    Case("continues_itself()", ("sandbox",)),
    Case("queues_signal_to_itself()", ("sandbox",)),
    Case("handles_parent()", ("sandbox",)),
    Case("clocks(SLEEPER)", ("sandbox",)),
    Case("moves(SLEEPER)", ("sandbox",)),
    Case("vforks_thread()", ("sandbox",)),
    Case("forks()", ("sandbox",)),
    Case("handles_faults()", ("sandbox",)),
    Case("signals_parent()", ("sandbox", "landlock")),
    Case("limits_parent()", ("sandbox",)),
    Case("moves(getppid())", ("sandbox",)),
]
EACH = pytest.mark.parametrize("case", CASES, ids=lambda case: case.attempt)


@pytest.mark.slow
@EACH
def test_nothing_of_it_happens_in_a_confined_worker(tried: Tried, case: Case) -> None:
    run = tried(case.attempt)
    assert not run.succeeded
    assert run.failure is None


@pytest.mark.slow
@EACH
def test_without_the_layers_against_it_it_happens(tried: Tried, case: Case) -> None:
    assert tried(case.attempt, **case.only(None)).succeeded


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "layer"),
    [(case, layer) for case in CASES for layer in case.layers if len(case.layers) > 1],
    ids=lambda value: value.attempt if isinstance(value, Case) else value,
)
def test_each_layer_alone_stops_it(tried: Tried, case: Case, layer: str) -> None:
    assert not tried(case.attempt, **case.only(layer)).succeeded


def on_landlock(abi: int) -> tuple[str, ...]:
    """A command that has a worker use an older landlock."""
    script = (
        "import sys; sys.path.append(sys.argv[-2]); from confined import landlock, worker\n"
        "landlock.abi = lambda _: int(sys.argv[1])\n"
        "worker.start(sys.argv[-1])\n"
    )
    return (sys.executable, "-I", "-S", "-B", "-c", script, str(abi))


@pytest.mark.slow
@pytest.mark.parametrize("case", [c for c in CASES if c.layers != ("own_root",)], ids=str)
def test_the_oldest_landlock_and_seccomp_stop_it_alone(tried: Tried, case: Case) -> None:
    run = tried(case.attempt, on_landlock(1), namespaces=False, own_root=False)
    assert run.confined == 3
    assert not run.succeeded


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_without_landlock_the_others_stop_it_alone(tried: Tried, case: Case) -> None:
    run = tried(case.attempt, refusing("landlock"))
    assert run.confined == 13
    assert not run.succeeded


@pytest.mark.parametrize(
    ("off", "held"),
    [
        ((), 15),
        (("sandbox",), 14),
        (("landlock",), 13),
        (("namespaces",), 11),
        (("own_root",), 7),
        (CONFINEMENTS, 0),
    ],
)
def test_a_worker_says_which_confinements_hold(
    tried: Tried, off: tuple[str, ...], held: int
) -> None:
    assert tried("true", **dict.fromkeys(off, False)).confined == held


def test_what_honest_code_needs_is_still_there(tried: Tried) -> None:
    assert tried("team_of_threads() && has_random_numbers() && knows_processors()").succeeded


def refusing(*calls: str) -> tuple[str, ...]:
    """A command that runs another under a kernel that pretends not to have these system calls."""
    numbers = {"landlock": (444, 444), "unshare": (272, 97), "seccomp": (317, 277)}
    script = (
        "import ctypes, json, os, runpy, struct, sys\n"
        "sys.path.append(sys.argv[1]); from confined import filters\n"
        "machine = filters.architecture()\n"
        "jump, refuse = filters.instruction, filters.refuse\n"
        "rules = [filters.load(0)]\n"
        "for call in json.loads(sys.argv[2]):\n"
        "    rules += [jump(filters.JUMP_EQUAL, call[machine], 0, 1), refuse(38)]\n"
        "code = ctypes.create_string_buffer(b''.join([*rules, filters.allow()]))\n"
        "kernel = ctypes.CDLL(None)\n"
        "kernel.prctl(38, 1, 0, 0, 0)\n"
        "filter_ = struct.pack('@HP', len(rules) + 1, ctypes.addressof(code))\n"
        "assert kernel.prctl(22, 2, filter_, 0, 0) == 0\n"
        "os.execv(sys.argv[3], sys.argv[3:])\n"
    )
    wanted = json.dumps([numbers[call] for call in calls])
    return (sys.executable, "-I", "-S", "-B", "-c", script, EVALUATION, wanted)


@pytest.mark.parametrize(
    ("missing", "held"),
    [(("landlock",), 13), (("unshare",), 3), (("landlock", "unshare", "seccomp"), 1)],
)
def test_a_worker_goes_on_with_what_the_kernel_has(
    tried: Tried, missing: tuple[str, ...], held: int
) -> None:
    run = tried("connects(PORT)", refusing(*missing))
    assert run.failure is None
    assert run.confined == held
    assert not run.succeeded


def test_every_confinement_is_tried_and_holds() -> None:
    said = {name: probe.tried(name) for name in probe.PROBES}
    assert [name for name, (holds, _) in said.items() if not holds] == []
    assert said["landlock"][1].startswith("ABI ")
    assert said["namespaces"][1] == "own user, net, ipc, uts"


def features(*command: str) -> dict[str, tuple[bool, str, str]]:
    """What each probe says in a process that is started by `command`."""
    script = (
        "import json, sys; from regraph_kg.evaluation.confined import probe\n"
        "said = {name: (*probe.tried(name), remedy) for name, (_, remedy) in probe.PROBES.items()}"
        "\nprint(json.dumps({name: [holds, remedy, what]"
        " for name, (holds, what, remedy) in said.items()}))"
    )
    child = subprocess.run(
        [*command, sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return {name: tuple(said) for name, said in json.loads(child.stdout).items()}


def test_what_a_kernel_lacks_is_seen_with_its_remedy() -> None:
    without = ("unshare", "--user", "--map-current-user", "--net", *refusing("landlock", "seccomp"))
    seen = features(*without)
    lacking = {name for name, (holds, *_) in seen.items() if not holds}
    assert lacking == {"landlock"}  # a filter can be set by another call than seccomp
    assert "docker/worker.Dockerfile" in seen["landlock"][1]
    assert "openmp ones see no files" in seen["landlock"][2]


def test_doctor_says_what_it_means_where_files_stay_open() -> None:
    seen = features(*refusing("landlock", "unshare"))
    for name in ("landlock", "own root"):
        assert not seen[name][0]
        assert "candidates read what this user may read" in seen[name][2]


def test_without_mount_namespaces_landlock_does_and_names_stay_visible() -> None:
    holds, _, what = features(*refusing("unshare"))["own root"]
    assert holds
    assert "a file's name, size and times can be seen" in what


@pytest.mark.parametrize("network", [True, False])
def test_a_refused_namespace_matters_where_there_is_a_network(network: bool) -> None:
    around = () if network else ("unshare", "--user", "--net")
    if network and not probe._has_network():
        require("network", "this machine has none")
    assert features(*around, *refusing("unshare"))["namespaces"][0] != network


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A harness that reports what its threads can open, the first started before seccomp is."""
    folder = tmp_path_factory.mktemp("stub")
    source = folder / "stub.cpp"
    source.write_text(
        ATTEMPTS + "#include <thread>\n#include <atomic>\n"
        "static std::atomic<int> go; static bool early; static std::thread driver;\n"
        'extern "C" void regraph_seal() {}\n'
        'extern "C" int regraph_open(int, unsigned long) {\n'
        "  driver = std::thread([] { while (!go) usleep(100);\n"
        '    early = reads("/etc/passwd") || forks() || chroot("/") == 0; }); return 0; }\n'
        'extern "C" void regraph_confined(unsigned long) {}\n'
        'extern "C" void regraph_serve(const char*) {\n'
        "  go = 1; driver.join(); _exit(early ? 1 : 0); }\n"
    )
    library = folder / "stub.so"
    subprocess.run(
        ["g++", "-std=c++17", "-fPIC", "-shared", "-w", source, "-o", library], check=True
    )
    return library


def orders(stub: Path, **changed: object) -> str:
    own: dict[str, object] = {
        "descriptor": 0,
        "bytes": 0,
        "harness": str(stub),
        "entry": "none",
        "parent": os.getpid(),
        "directory": -1,
        "memory": 0,
        "cpu_seconds": 60,
        "sandbox": True,
        "cuda": True,
        "landlock": True,
        "namespaces": True,
    }
    return json.dumps({**own, **changed})


@pytest.mark.parametrize("on", [True, False])
def test_threads_of_the_driver_are_confined_as_well(stub: Path, on: bool) -> None:
    folder = os.open(stub.parent, os.O_RDONLY)
    text = orders(stub, directory=folder, sandbox=on, landlock=on, namespaces=on)
    command = confined.command("worker", text)
    run = subprocess.run(command, pass_fds=(folder,), timeout=30, check=False, capture_output=True)
    os.close(folder)
    assert run.returncode == (0 if on else 1), run.stderr
