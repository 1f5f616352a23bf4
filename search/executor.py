"""Executors do what searches ask of a world: in turn, in this thread, or in several at once.

Several searches may share a model and a judge: `shared`.
Not covered: processes; a call of the model that never returns (its client has a timeout).
"""

import queue
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TypeVar

from regraph_kg.errors import AnswersPending
from regraph_kg.models.prompt import Reply
from regraph_kg.search.driver import Finished
from regraph_kg.search.prompts.beginning import FENCE
from regraph_kg.search.prompts.by_rule import BY_RULE
from regraph_kg.search.read_answer import continued
from regraph_kg.search.world import Effect, ModelRequest, Result, World

T = TypeVar("T")


class Alone:
    """Does one effect after the other, in the order of their beginning, when asked to finish."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._begun: deque[Effect] = deque()

    def start(self, effect: Effect) -> None:
        """Queue it."""
        self._begun.append(effect)

    def finish(self) -> Finished:
        """Do the first."""
        effect = self._begun.popleft()
        return Finished(effect, result(self._world, effect))


class Threads:
    """Does several effects at once: calls of the model in `callers`, evaluations in `judges`."""

    def __init__(
        self, world: World, callers: ThreadPoolExecutor, judges: ThreadPoolExecutor
    ) -> None:
        # pools apart: a slow judge must not keep the model from answering
        self._world, self._callers, self._judges = world, callers, judges
        self._ended: queue.SimpleQueue[Future[Finished]] = queue.SimpleQueue()

    def start(self, effect: Effect) -> None:
        """Submit it to the model's or the judge's threads."""
        workers = self._callers if isinstance(effect, ModelRequest) else self._judges
        done = workers.submit(lambda: Finished(effect, result(self._world, effect)))
        done.add_done_callback(self._ended.put)

    def finish(self) -> Finished:
        """The next that ends; raises what it raised."""
        # the error of a thread is raised where it is waited for, in the deciding thread
        return self._ended.get().result()


def shared(live: World, callers: ThreadPoolExecutor, judges: ThreadPoolExecutor) -> World:
    """`live`, whose calls of the model and evaluations wait for threads that several searches use.

    `CancelledError` for what had not begun when the threads were shut down.
    """
    return replace(
        live,
        complete=lambda prompt: _in_turn(callers, partial(live.complete, prompt)),
        evaluate=lambda candidate, best: _in_turn(judges, partial(live.evaluate, candidate, best)),
        evaluate_final=lambda candidate: _in_turn(judges, partial(live.evaluate_final, candidate)),
    )


def _in_turn(threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    try:
        # first come, first served: a search has few pieces waiting, so none keeps another out
        waiting = threads.submit(work)
    except RuntimeError as error:  # it was shut down meanwhile
        raise CancelledError from error
    return waiting.result()


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
