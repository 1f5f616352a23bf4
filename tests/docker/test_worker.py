"""The image of docker/worker.Dockerfile, run with the options that its header gives.

Built upon Debian, so only target openmp is judged. Not covered: --gpus, nvcc and the nvidia/cuda
base; Docker's rootless mode; podman.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.docker.conftest import ROOT
from tests.install_docker_images import docker

pytestmark = pytest.mark.timeout(1800)  # the first test waits for the build
EXPLOITS = ROOT / "benchmarks" / "suite" / "exploits"
HONEST = """\
#include <utility>
#include <vector>
extern "C" void stencil(const float* in, float* out, int rows, int cols, int sweeps) {
    std::vector<float> a(in, in + rows * cols), b(a);
    for (int s = 0; s < sweeps; ++s) {
#pragma omp parallel for
        for (int i = 1; i < rows - 1; ++i)
            for (int j = 1; j < cols - 1; ++j)
                b[i * cols + j] = 0.2f * (a[i * cols + j] + a[(i - 1) * cols + j] +
                                          a[(i + 1) * cols + j] + a[i * cols + j - 1] +
                                          a[i * cols + j + 1]);
        std::swap(a, b);
    }
    for (int i = 0; i < rows * cols; ++i) out[i] = a[i];
}
"""


def documented() -> list[str]:
    """Options of `docker run` in the recipe's header, but the GPU and the folder of the user."""
    header = (ROOT / "docker" / "worker.Dockerfile").read_text(encoding="utf-8")
    text = re.sub(r"\\?\n#", " ", header.partition("docker run ")[2].partition("--volume")[0])
    return [word for word in text.split() if word not in ("--gpus", "all")]


def run(image: str, *words: str, folder: Path = EXPLOITS) -> subprocess.CompletedProcess[str]:
    """Run it as documented with `folder` as the user's; stdout and stderr apart."""
    where = ("--volume", f"{folder}:/work:ro", "--workdir", "/work")
    return docker("run", *documented(), *where, image, *words, check=False)


def test_the_header_confines_it() -> None:
    assert {"none", "--read-only", "ALL", "no-new-privileges"} <= set(documented())
    assert {"--pids-limit", "--memory", "--memory-swap", "--tmpfs"} <= set(documented())


def test_doctor_finds_nothing_red(worker_image: str) -> None:
    """But for cores that others use: that is this machine, not the image."""
    done = run(worker_image, "doctor", "--json")
    rows = json.loads(done.stdout)
    red = [row for row in rows if row["state"] == "red"]
    assert [row for row in red if (row["part"], row["name"]) != ("machine", "cores")] == []
    assert done.returncode == (1 if red else 0)


def test_another_user_can_run_it(worker_image: str) -> None:
    done = docker(
        *("run", *documented(), "--user", "4321:4321", worker_image, "doctor", "--quick", "--json"),
        check=False,
    )
    red = [row["name"] for row in json.loads(done.stdout) if row["state"] == "red"]
    assert red in ([], ["cores"])


def test_an_honest_candidate_for_a_shipped_problem_passes(
    worker_image: str, tmp_path: Path
) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "mine.cpp").write_text(HONEST)
    done = run(worker_image, "evaluate", "stencil", "mine.cpp", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["outcome"] in ("passed", "unstable_timing")


@pytest.mark.parametrize("exploit", ["known_shapes", "mutates_input"])
def test_an_exploit_is_caught(worker_image: str, exploit: str) -> None:
    done = run(worker_image, "evaluate", "problem/smooth", f"openmp/{exploit}.cpp", "--json")
    assert done.returncode == 1, done.stdout + done.stderr
    assert json.loads(done.stdout)["outcome"] in ("wrong_answer", "mutated_input")
