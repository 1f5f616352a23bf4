# The judge and its workers in a container: not root, no network, read-only root, no capabilities.
# Built and run by `make test-docker` upon Debian, for target openmp; not yet with a GPU.
#
#   docker build -f docker/worker.Dockerfile -t regraph-worker .
#   docker run --rm --gpus all --network none --read-only --cap-drop ALL \
#     --security-opt no-new-privileges --pids-limit 512 --memory 32g --memory-swap 32g \
#     --tmpfs /tmp:rw,noexec,nosuid,nodev,size=4g --tmpfs /cache:rw,exec,nosuid,nodev,size=4g \
#     --tmpfs /data:rw,noexec,nosuid,nodev,size=2g \
#     --volume "$PWD:/work:ro" --workdir /work regraph-worker doctor
#
# /tmp holds sources and objects only: compilers write there, nothing runs from it. /cache holds
# what they made and must allow execution. /data holds the embedded graph.
# A named volume at /cache or /data keeps it between runs. Anybody may write to the three, so that
# --user works: give your own where others may not read your folder. Candidates are
# loaded from anonymous memory, which counts towards --memory like the arrays. Compiling needs
# processes: --pids-limit is for the whole container, not for a candidate (seccomp stops its forks).
# Docker's own filter refuses user namespaces, and the container has no network to be kept from;
# landlock and seccomp work inside. Without --gpus only target openmp can be judged, and
# --build-arg BASE=debian:bookworm-slim is enough for it (any base with apt and Python 3.11).
# An index of your own: --build-arg PIP_INDEX_URL=...; images keep it in their history, so no
# password in it. Whom pip is to trust besides stands in the base's own certificates.
ARG BASE=nvidia/cuda:13.0.1-devel-ubuntu24.04
FROM ${BASE}

RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
       g++ python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home --shell /usr/sbin/nologin worker \
    && install --directory --mode 1777 /cache /data /work

ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
COPY . /opt/regraph
RUN python3 -m venv /opt/venv \
    && /opt/venv/bin/pip install --no-cache-dir /opt/regraph

ENV PATH=/opt/venv/bin:/usr/local/cuda/bin:/usr/bin:/bin \
    REGRAPH_CACHE_DIR=/cache \
    REGRAPH_DATA_DIR=/data \
    TMPDIR=/tmp \
    PYTHONDONTWRITEBYTECODE=1
USER worker
WORKDIR /work
ENTRYPOINT ["regraph"]
CMD ["doctor"]
