# The judge and its workers in a container: not root, no network, read-only root, no capabilities.
# Not built by the project's tests, which have no container engine; they check only its text.
#
#   docker build -f docker/worker.Dockerfile -t regraph-worker .
#   docker run --rm --gpus all --network none --read-only --cap-drop ALL \
#     --security-opt no-new-privileges --pids-limit 512 --memory 32g --memory-swap 32g \
#     --tmpfs /tmp:rw,noexec,nosuid,nodev,size=4g --tmpfs /cache:rw,exec,nosuid,nodev,size=4g \
#     --volume "$PWD:/work:ro" --workdir /work regraph-worker doctor
#
# /tmp holds sources and objects only: compilers write there, nothing runs from it. /cache holds
# what they made and must allow execution; a named volume there keeps it between runs. Candidates are
# loaded from anonymous memory, which counts towards --memory like the arrays. Compiling needs
# processes: --pids-limit is for the whole container, not for a candidate (seccomp stops its forks).
# Docker's own filter refuses user namespaces, and the container has no network to be kept from;
# landlock and seccomp work inside. Without --gpus only target openmp can be judged.
FROM nvidia/cuda:13.0.1-devel-ubuntu24.04

RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
       g++ python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home --shell /usr/sbin/nologin worker \
    && install --directory --owner worker --group worker /cache

COPY . /opt/regraph
RUN python3 -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir /opt/regraph

ENV PATH=/opt/venv/bin:/usr/local/cuda/bin:/usr/bin:/bin \
    REGRAPH_CACHE_DIR=/cache \
    TMPDIR=/tmp \
    PYTHONDONTWRITEBYTECODE=1
USER worker
WORKDIR /work
ENTRYPOINT ["regraph"]
CMD ["doctor"]
