"""The embedded store's process: one per folder, private, found again, gone when unused."""

import os
import shutil
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from regraph_kg.backends import embedded
from regraph_kg.backends.bolt import Bolt
from regraph_kg.backends.store import GraphStore
from regraph_kg.errors import StoreError
from regraph_kg.settings import Settings
from regraph_kg.wiring.stores import open_store, start_embedded
from tests.contract.plans import plan
from tests.stores import embedded_folder, find_embedded, stop_embedded


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    given = Settings(store="embedded", data_dir=tmp_path / "data")
    yield given
    stop_embedded(given)


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def listening(pid: int) -> set[str]:
    """Local addresses on which process `pid` listens, as the kernel writes them."""
    links = [path.readlink() for path in Path(f"/proc/{pid}/fd").iterdir() if path.is_symlink()]
    inodes = {str(link)[8:-1] for link in links if str(link).startswith("socket:")}
    return {
        fields[1].partition(":")[0]
        for table in ("tcp", "tcp6")
        for fields in map(str.split, Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:])
        if fields[3] == "0A" and fields[9] in inodes
    }


@pytest.mark.slow
def test_starters_at_once_share_one_process_that_stays_until_stopped(settings: Settings) -> None:
    with ThreadPoolExecutor(3) as pool:
        states = set(pool.map(lambda _: start_embedded(settings), range(3)))
    assert len(states) == 1
    (state,) = states
    assert find_embedded(settings) == start_embedded(settings) == state

    assert stop_embedded(settings) == state
    assert find_embedded(settings) is None
    assert not embedded.running(embedded_folder(settings))
    assert stop_embedded(settings) is None


def test_it_is_private_to_its_owner_and_to_this_machine(settings: Settings) -> None:
    state = start_embedded(settings)
    folder = embedded_folder(settings)
    for private in (settings.data_dir, folder):  # the trace key is in the first
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "state.json").stat().st_mode) == 0o600
    assert len(state.password) >= 40
    for public in (f"/proc/{state.pid}/cmdline", f"/proc/{state.pid}/environ"):
        assert state.password.encode() not in Path(public).read_bytes()
    assert state.password not in repr(state) + repr(state.address)
    assert state.password not in (folder / "server.log").read_text()
    loopback = {"0100007F", "0000000000000000FFFF00000100007F"}  # 127.0.0.1, as IPv4 and mapped
    assert listening(state.pid)
    assert listening(state.pid) <= loopback


@pytest.mark.slow
def test_a_store_killed_under_a_client_is_one_line_and_the_next_finds_all_in_a_new_one(
    settings: Settings,
) -> None:
    with closing(open_store(settings, retry_seconds=1)) as store:
        store.merge([plan(code=f"{i}") for i in range(50)])
        dead = start_embedded(settings)
        os.kill(dead.pid, signal.SIGKILL)
        with pytest.raises(StoreError) as caught:
            store.stats()
        assert "\n" not in str(caught.value)
    wait_until(lambda: not embedded.running(embedded_folder(settings)))
    assert (embedded_folder(settings) / "state.json").exists()
    assert find_embedded(settings) is None

    with closing(open_store(settings)) as store:
        assert store.stats().trajectories == 50
        assert store.merge([plan(code=f"{i}") for i in range(50)]).known == 50
    assert start_embedded(settings).password != dead.password


@pytest.mark.slow
def test_it_ends_when_unused_and_not_before(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, store_idle_seconds=2)
    folder = embedded_folder(settings)
    with closing(open_store(settings)) as store:
        for _ in range(45):
            assert find_embedded(settings) is not None
            time.sleep(0.1)
        store.merge([plan()])
    wait_until(lambda: not embedded.running(folder))
    assert not (folder / "state.json").exists()
    with closing(open_store(settings)) as store:
        assert store.stats().trajectories == 1
    stop_embedded(settings)


@pytest.mark.slow
def test_a_client_that_comes_as_it_ends_keeps_it(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, store_idle_seconds=2)
    folder = embedded_folder(settings)
    state = start_embedded(settings)
    # The file goes a moment before the end.
    wait_until(lambda: not (folder / "state.json").exists())
    with closing(GraphStore(Bolt(state.address))) as late:
        late.apply_schema()
        time.sleep(3.5)
        assert find_embedded(settings) == state
        assert late.stats().trajectories == 0
    stop_embedded(settings)


@pytest.mark.slow
def test_the_end_of_a_removed_store_leaves_the_one_that_took_its_place_alone(
    tmp_path: Path,
) -> None:
    settings = Settings(data_dir=tmp_path, store_idle_seconds=4)
    folder = embedded_folder(settings)
    removed = start_embedded(settings)
    shutil.rmtree(folder)
    with closing(open_store(settings)) as store:
        store.merge([plan()])
        wait_until(lambda: not Path(f"/proc/{removed.pid}").exists())
        state = find_embedded(settings)
    assert state is not None
    assert state.pid != removed.pid
    stop_embedded(settings)
    with closing(open_store(settings)) as store:
        assert store.stats().trajectories == 1
    stop_embedded(settings)


def test_a_store_that_cannot_start_says_why_in_one_line(settings: Settings) -> None:
    folder = embedded_folder(settings)
    folder.mkdir(parents=True)
    (folder / "databases").write_text("not a folder")
    with pytest.raises(StoreError, match=r"did not start \(.+\); see .*server.log") as caught:
        start_embedded(settings)
    assert "\n" not in str(caught.value)
    wait_until(lambda: not embedded.running(folder))


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = Settings(data_dir=tmp_path / "file" / "data")
    with pytest.raises(StoreError, match=r"embedded store: .*; set REGRAPH_DATA_DIR"):
        start_embedded(settings)


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_damaged_state_file_is_one_line(settings: Settings, text: str) -> None:
    start_embedded(settings)
    file = embedded_folder(settings) / "state.json"
    right = file.read_text()
    file.write_text(text)
    with pytest.raises(StoreError) as caught:
        find_embedded(settings)
    assert str(file.name) in str(caught.value)
    assert "\n" not in str(caught.value)
    file.write_text(right)  # the store is to be stopped


@pytest.mark.slow
def test_a_starting_store_is_waited_for(settings: Settings) -> None:
    folder = embedded_folder(settings)
    starter = threading.Thread(target=start_embedded, args=[settings])
    starter.start()
    wait_until(lambda: embedded.running(folder))
    state = stop_embedded(settings)
    starter.join()
    assert state is not None


@pytest.mark.slow
def test_a_writer_whose_folder_was_removed_is_one_line(settings: Settings) -> None:
    with closing(open_store(settings, retry_seconds=1)) as store:
        stop_embedded(settings)
        shutil.rmtree(embedded_folder(settings))
        with pytest.raises(StoreError, match=r"writers: .*; its folder must be there"):
            store.merge([plan()])


def test_the_callers_folder_lends_it_no_modules(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secrets.py").write_text("raise SystemExit('not the standard library')")
    monkeypatch.chdir(tmp_path)
    assert start_embedded(settings).pid > 0
