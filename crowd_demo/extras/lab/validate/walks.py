"""Where scenes are walked: one after the other in this process, or several at a time in processes of their own.

A walk is a generator: it yields how much of it is done, 0 to 1, and returns who was where. Those of other processes
begin in the order in which they are asked for, before anybody waits for them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager

from crowd_demo.extras.lab.validate.validation_experiment import WalkScene
from crowd_demo.extras.lab.validate.walkers import SceneWalker
from crowd_demo.measure.trajectories import Trajectories

POLL_S = 0.1

Walk = Generator[float, None, Trajectories]
Begin = Callable[[SceneWalker, WalkScene, int], Walk]  # the last is the seed


def walks_in(processes: int) -> AbstractContextManager[Begin]:
    """Return what begins walks, in so many processes; they end with the context."""
    return in_processes(processes) if processes > 1 else in_this_process()


@contextmanager
def in_this_process() -> Iterator[Begin]:
    yield lambda walker, scene, seed: walker.walk(scene, seed)


@contextmanager
def in_processes(count: int) -> Iterator[Begin]:
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _be_a_worker)
    try:
        yield lambda walker, scene, seed: _awaited(pool.submit(_walked, walker, scene, seed))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():  # they may be in the middle of a walk
            process.terminate()


def _awaited(future: Future[Trajectories]) -> Walk:
    while not wait((future,), POLL_S).done:
        yield 0.0
    return future.result()


# --- in those processes ----------------------------------------------------------------------------------------------

def _be_a_worker() -> None:
    """Leave Ctrl-C to the program, and end when it does, whatever ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_program, daemon=True).start()


def _end_with_the_program() -> None:
    program = multiprocessing.parent_process()
    assert program
    program.join()
    os._exit(0)


def _walked(walker: SceneWalker, scene: WalkScene, seed: int) -> Trajectories:
    walk = walker.walk(scene, seed)
    while True:
        try:
            next(walk)
        except StopIteration as end:
            found: Trajectories = end.value
            return found
