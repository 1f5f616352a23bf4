"""Executors do what searches ask of a world: in turn, in this thread, or in several at once.

Several searches that share a model and a judge take turns at them: `Turns`, `shared`.
Not covered: processes; a call of the model that never returns (its client has a timeout).
"""

import queue
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

from regraph_kg.errors import AnswersPending
from regraph_kg.models.prompt import Reply
from regraph_kg.search.driver import Finished
from regraph_kg.search.effects import Effect, ModelRequest, Result
from regraph_kg.search.prompts.beginning import FENCE
from regraph_kg.search.prompts.by_rule import BY_RULE
from regraph_kg.search.read_answer import continued
from regraph_kg.search.world import World

T = TypeVar("T")


class Alone:
    """Does one effect after the other, in the order of their beginning, when asked to finish."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._begun: deque[Effect] = deque()
        self._since = time.monotonic()

    def start(self, effect: Effect) -> None:
        """Queue it."""
        self._begun.append(effect)

    def finish(self) -> Finished:
        """Do the first."""
        effect = self._begun.popleft()
        return Finished(effect, result(self._world, effect))

    def seconds(self) -> float:
        """Since it was made."""
        return time.monotonic() - self._since


class Threads:
    """Does `callers` calls of the model and `judges` evaluations at once, in threads of its own."""

    def __init__(self, world: World, callers: int, judges: int) -> None:
        self._world = world
        self._callers = ThreadPoolExecutor(callers, "model")
        self._judges = ThreadPoolExecutor(judges, "judge")
        self._ended: queue.SimpleQueue[Callable[[], Finished]] = queue.SimpleQueue()
        self._since = time.monotonic()

    def start(self, effect: Effect) -> None:
        """Submit it to the model's or the judge's threads."""
        workers = self._callers if isinstance(effect, ModelRequest) else self._judges
        # pools apart: a slow judge must not keep the model from answering
        workers.submit(self._do, effect)

    def finish(self) -> Finished:
        """The next that ends; raises what it raised."""
        # the error of a thread is raised where it is waited for, in the deciding thread
        return self._ended.get()()

    def seconds(self) -> float:
        """Since it was made."""
        return time.monotonic() - self._since

    def close(self) -> None:
        """Begin nothing more and wait for what is under way: end models and judges first."""
        for workers in (self._callers, self._judges):
            workers.shutdown(wait=False, cancel_futures=True)
        for workers in (self._callers, self._judges):
            workers.shutdown(wait=True)

    def _do(self, effect: Effect) -> None:
        try:
            finished = Finished(effect, result(self._world, effect))
        except BaseException as error:  # noqa: BLE001 (raised again where it is waited for)
            self._ended.put(_raising(error))
        else:
            self._ended.put(lambda: finished)


class Turns:
    """`slots` threads that work for several searches, a piece of each in turn."""

    def __init__(self, slots: int, name: str) -> None:
        self._threads = ThreadPoolExecutor(slots, name)
        self._waiting: OrderedDict[object, deque[_Piece]] = OrderedDict()
        self._changed = threading.Lock()
        self._closed = False

    def do(self, search: object, work: Callable[[], T]) -> T:
        """Wait until `work` was done, and what it came to.

        Those that wait get a slot in turn, however much one of them has waiting. `CancelledError`
        once this is closed.
        """
        future: Future[T] = Future()
        with self._changed:
            if self._closed:
                raise CancelledError
            # a thread is told only that something waits: whose it is, is decided when it is free
            self._waiting.setdefault(search, deque()).append((future, work))
            self._threads.submit(self._next)
        return future.result()

    def close(self) -> None:
        """Begin nothing more: who waits gets a `CancelledError`. What is under way is awaited."""
        with self._changed:
            self._closed = True
            while self._waiting:
                for future, _ in self._waiting.popitem()[1]:
                    future.cancel()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _next(self) -> None:
        """Do the first piece of the search that waits longest, which then waits last."""
        with self._changed:
            if self._closed:
                return
            # first in, and back at the end: nobody waits for all pieces of another search
            search, pieces = self._waiting.popitem(last=False)
            future, work = pieces.popleft()
            if pieces:
                self._waiting[search] = pieces
        try:
            value = work()
        except BaseException as error:  # noqa: BLE001 (raised where it is waited for)
            future.set_exception(error)
        else:
            future.set_result(value)


_Piece = tuple["Future[Any]", Callable[[], Any]]


def shared(live: World, callers: Turns, judges: Turns) -> World:
    """A search's world whose calls of the model and evaluations are in turn with others'."""
    search = object()
    return replace(
        live,
        complete=lambda prompt: callers.do(search, lambda: live.complete(prompt)),
        evaluate=lambda candidate, best: judges.do(search, lambda: live.evaluate(candidate, best)),
        evaluate_final=lambda candidate: judges.do(search, lambda: live.evaluate_final(candidate)),
    )


def result(world: World, effect: Effect) -> Result | None:
    """Do an effect; None where its answer is to come by file."""
    try:
        if isinstance(effect, ModelRequest):
            if effect.prompt.ready:
                ready = effect.prompt.ready
                text = f"{FENCE}{ready}\n```"
                return Reply(text=text, code=ready, mended=(BY_RULE,), finish="stop")
            return continued(effect.prompt, world.complete(effect.prompt))
        return world.evaluate(effect.candidate, effect.incumbent_seconds)
    except AnswersPending:
        return None


def _raising(error: BaseException) -> Callable[[], Finished]:
    def raise_it() -> Finished:
        raise error

    return raise_it
