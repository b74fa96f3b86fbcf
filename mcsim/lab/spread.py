"""Runs of a sweep, one after another, in processes of this machine, or through any executor, a cluster's among them."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from mcsim.core.errors import SceneError, SimulationError
from mcsim.core.extras import require_distributed
from mcsim.core.processors import processors
from mcsim.lab.trials import Trial, outcome, told
from mcsim.scene.checks import FieldError, show

Run = tuple[int, dict[str, Any]]  # its number and its parameters
Done = Callable[[int, Any, str, bool], None]  # number, results, failure, whether the study itself has failed

AHEAD = 2  # runs that wait for each worker, so that none waits for us
SHORTEST_WINDOW = 64  # runs that a cluster has at a time
MOST_ON_WINDOWS = 61  # processes that Windows can wait for
ALONE = 2  # how often a run whose process ended may begin anew, alone, before that counts as its own doing
LOST = "the process that ran it ended before the run did: killed, out of memory, or crashed"
ELSEWHERE = (
    "other processes import the study by its name: define it in a module (a .py file) of its own, or give jobs=1, or a "
    "concurrent.futures.ThreadPoolExecutor as client"
)


def spread(trial: Trial, runs: list[Run], client: Any, jobs: int, done: Done) -> None:
    """Make all runs; done is called in this thread as each is finished, in any order."""
    if isinstance(client, str):
        client = _connected(client)
        try:
            return spread(trial, runs, client, jobs, done)
        finally:
            client.close()
    if client is None:
        if min(jobs, len(runs)) <= 1:
            for number, parameters in runs:
                results, failure = outcome(trial, parameters)
                done(number, results, failure, True)
        else:
            _in_processes(trial, runs, min(jobs, len(runs)), done)
        return None
    if hasattr(client, "get_executor"):  # of dask.distributed
        executor = client.get_executor(pure=False)
        window = max(SHORTEST_WINDOW, AHEAD * sum(client.nthreads().values()))
    else:
        executor, window = client, AHEAD * processors()
    lost = _through(executor, trial, iter(runs), window, done)
    if lost:
        raise SimulationError(f"the executor has broken; {len(lost)} runs that it had begun are lost")
    return None


def check_client(client: Any, jobs: Any) -> None:
    """FieldError if it is nothing that runs can be given to."""
    if client is None:
        return
    if not (isinstance(client, str | Executor) or hasattr(client, "get_executor")):
        raise FieldError(
            "client",
            "must be a Client of dask.distributed, the address of a scheduler, or an Executor of concurrent.futures, "
            f"got {show(client)}",
        )
    if jobs is not None:
        raise FieldError("jobs", "is of processes on this machine: leave it out with a client, which has its own workers")
    if isinstance(client, str):
        require_distributed()


def _connected(address: str) -> Any:
    """A client of the scheduler at this address."""
    distributed = require_distributed()
    try:
        return distributed.Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise SceneError(f"no scheduler answers at {address}: {' '.join(str(error).split())}") from None


def _through(executor: Executor, trial: Any, runs: Iterator[Run], window: int, done: Done) -> list[Run]:
    """Make runs by an executor, so many at a time. -> those under way when it broke; `runs` has the further ones."""
    under_way: dict[Future[Any], Run] = {}
    lost: list[Run] = []
    try:
        while True:
            while not lost and len(under_way) < window and (run := next(runs, None)) is not None:
                try:
                    under_way[executor.submit(outcome, trial, run[1])] = run
                except BrokenExecutor:
                    lost.append(run)
            if not under_way:
                return sorted(lost, key=lambda run: run[0])
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                run = under_way.pop(future)
                try:
                    results, failure = future.result()
                except BrokenExecutor:
                    lost.append(run)
                except CancelledError:
                    raise SimulationError("the runs were cancelled: the scheduler is gone, or has dropped them") from None
                except Exception as error:  # what a cluster says of workers that are lost again and again
                    done(run[0], None, told(error), False)
                else:
                    done(run[0], results, failure, True)
    finally:
        for future in under_way:
            future.cancel()


# ---- processes -------------------------------------------------------------------------------------------------------
#
# Processes, not threads: making scenes is Python, which threads do one at a time, and what crashes takes no other run with
# it. They are spawned, not forked, on every system alike: a fork has a copy of whatever threads hold.


class Sent:
    """A study on its way to other processes: pickled once, and unpickled once in each."""

    def __init__(self, trial: Trial) -> None:
        try:
            self._bytes = pickle.dumps(trial)
        except Exception as error:
            raise SceneError(f"the study cannot be sent to other processes ({told(error)}): {ELSEWHERE}") from None

    def __call__(self) -> Trial:
        return _unpickled(self._bytes)


@lru_cache(1)
def _unpickled(sent: bytes) -> Trial:
    found: Trial = pickle.loads(sent)
    return found


def _in_processes(trial: Trial, runs: list[Run], jobs: int, done: Done) -> None:
    """A process that ends takes the pool with it, and nothing says whose run it had: each that was under way is made anew,
    alone, and those that end their process then are failures."""
    sent, left = Sent(trial), iter(runs)
    while (run := next(left, None)) is not None:
        left = itertools.chain([run], left)
        with _pool(jobs, sent) as pool:
            lost = _through(pool, sent, left, AHEAD * jobs, done)
        for run in lost:
            for _ in range(ALONE):
                with _pool(1, sent) as pool:
                    if not _through(pool, sent, iter([run]), 1, done):
                        break
            else:
                done(run[0], None, LOST, False)


@contextmanager
def _pool(jobs: int, sent: Sent) -> Iterator[Executor]:
    """A pool whose processes can read the study; where the block is left by an error they end at once."""
    most = MOST_ON_WINDOWS if os.name == "nt" else jobs
    pool = ProcessPoolExecutor(min(jobs, most), multiprocessing.get_context("spawn"), initializer=_begin)
    try:
        try:
            problem = pool.submit(_greet, sent).result()
        except BrokenExecutor:
            raise SceneError(
                "the processes for the runs end as they begin: each imports the program, which must be a file, and sweep "
                'below its line if __name__ == "__main__":; or give jobs=1'
            ) from None
        if problem:
            raise SceneError(f"the study cannot be read in other processes ({problem}): {ELSEWHERE}")
        yield pool
    except BaseException:
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        raise
    pool.shutdown()


def _begin() -> None:
    """In a new process: Ctrl-C is the parent's to answer, and where the parent is gone there is nothing left to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _greet(sent: Sent) -> str:
    """Whether the study can be had here: "", or why not."""
    try:
        sent()
    except Exception as error:
        return told(error)
    return ""
