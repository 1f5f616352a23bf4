"""The executor does what searches ask of a world, in threads; those of several may be the same.

Not covered: processes; a call of the model that never returns (its client has a timeout).
"""

import queue
from concurrent.futures import Future, ThreadPoolExecutor

from regraph_kg.errors import AnswersPending
from regraph_kg.search.driver import Finished
from regraph_kg.search.world import Effect, ModelRequest, Result, World


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


def result(world: World, effect: Effect) -> Result | None:
    """Do an effect; None where its answer is to come by file."""
    try:
        if isinstance(effect, ModelRequest):
            return world.complete(effect.prompt)
        return world.evaluate(effect.candidate, effect.incumbent_seconds, effect.grade)
    except AnswersPending:
        return None
