"""Sweeps in processes and on a cluster: the same results as in one process, also where some of them are killed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc
from command_line import hear_ctrl_c
from throwing import end_always, end_once, hold, slow, throw

pytestmark = pytest.mark.slow

FRICTIONS = {"friction": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]}
ROOT = Path(mc.__file__).parents[1]
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)])}


def told(results):
    return [
        None if found is None else {name: np.asarray(value).tolist() for name, value in found.items()} for found in results
    ]


@pytest.fixture(scope="module")
def alone():
    """What one process finds."""
    return told(mc.sweep(throw, FRICTIONS, jobs=1).results)


@pytest.mark.parametrize("jobs", [2, 3])
def test_processes_find_the_same(jobs, alone, tmp_path):
    seen = []
    found = mc.sweep(throw, FRICTIONS, jobs=jobs, folder=tmp_path, progress=lambda *now: seen.append(now[0]))
    assert told(found.results) == alone == told(mc.Sweep.load(tmp_path).results) and seen == [*range(9)]


def test_scenes_go_to_processes():
    grid = {"world.substeps": [1, 2, 3]}
    one, two = (mc.sweep(hold(1.0), grid, seconds=0.2, jobs=jobs) for jobs in (1, 2))
    assert told(one.results) == told(two.results)


def test_a_process_that_ends_takes_no_run_with_it(alone, tmp_path):
    """All that were under way are made anew."""
    marker = tmp_path / "marker"
    found = mc.sweep(end_once, FRICTIONS | {"marker": [str(marker)]}, jobs=2)
    assert marker.exists() and told(found.results) == alone and not found.failures


def test_a_run_that_ends_its_process_is_a_failure(alone, tmp_path):
    found = mc.sweep(end_always, FRICTIONS, jobs=2, folder=tmp_path)
    assert found.failures.keys() == {2} and "ended before the run did" in found.failures[2]
    assert [r for i, r in enumerate(told(found.results)) if i != 2] == [r for i, r in enumerate(alone) if i != 2]
    assert mc.Sweep.load(tmp_path).missing == [2]


def program(folder, text):
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, str(path)],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c if os.name == "posix" else None,
    )


def test_a_program_without_its_line_is_told(tmp_path):
    """Without if __name__ == "__main__": each process would sweep itself."""
    running = program(tmp_path, 'import mcsim as mc\nmc.sweep("pendulum", {"length": [1.0, 2.0]}, seconds=0.1, jobs=2)\n')
    _, err = running.communicate(timeout=120)
    assert running.returncode == 1 and 'below its line if __name__ == "__main__":' in err.splitlines()[-1]


def test_functions_of_a_program_itself(tmp_path):
    """They are named by its file, as if they were imported."""
    text = (
        "import mcsim as mc\n"
        "def square(x):\n    return x * x\n"
        'if __name__ == "__main__":\n'
        '    found = mc.sweep(square, {"x": [1, 2, 3]}, jobs=2, folder="kept")\n'
        "    print(found.name, [r['value'] for r in found.results])\n"
    )
    running = program(tmp_path, text)
    out, err = running.communicate(timeout=120)
    assert running.returncode == 0 and out.split("\n")[0] == "program.square [1, 4, 9]", err


STUDY = (
    "import mcsim as mc\nfrom throwing import slow\n"
    'if __name__ == "__main__":\n'
    f'    mc.sweep(slow, {{"friction": {FRICTIONS["friction"]}}}, jobs=2, folder="kept")\n'
)


def files_of(folder, fewest):
    """The results that are there, as soon as there are so many."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = sorted((folder / "kept").glob("*.npz"))
        if len(found) >= fewest:
            return found
        time.sleep(0.01)
    raise AssertionError("no results came")


def children_of(pid):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(stat.parent)
        except OSError:
            pass
    return found


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_what_was_interrupted_goes_on(how, alone, tmp_path):
    """Results that are there stay as they are, and no process is left behind."""
    running = program(tmp_path, STUDY)
    files_of(tmp_path, 2)
    children = children_of(running.pid) if Path("/proc").is_dir() else []
    running.send_signal(how)
    running.communicate(timeout=60)
    assert running.returncode != 0
    kept = {path: path.stat().st_mtime_ns for path in files_of(tmp_path, 2)}
    assert len(kept) < 8 and len(mc.Sweep.load(tmp_path / "kept").missing) == 8 - len(kept)
    end = time.monotonic() + 30
    while any(child.exists() for child in children) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [child for child in children if child.exists()]
    found = mc.sweep(slow, FRICTIONS, jobs=2, folder=tmp_path / "kept")
    assert told(found.results) == alone
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())


# ---- dask.distributed ------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers, each a process: its address, and the processes of the workers."""
    pytest.importorskip("distributed")
    about, quiet = tmp_path / "scheduler.json", {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    at = ["--scheduler-file", str(about)]
    module = [sys.executable, "-m"]
    scheduler = [*module, "distributed.cli.dask_scheduler", *at, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    worker = [*module, "distributed.cli.dask_worker", *at, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    processes = [subprocess.Popen(scheduler, env=ENVIRONMENT, cwd=tmp_path, **quiet)]
    try:
        processes += [subprocess.Popen(worker, env=ENVIRONMENT, cwd=tmp_path, **quiet) for _ in range(2)]
        end = time.monotonic() + 60
        while not about.exists() or not about.read_text():
            assert time.monotonic() < end, "the scheduler has not begun"
            time.sleep(0.05)
        yield json.loads(about.read_text())["address"], processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.filterwarnings("default")
def test_a_cluster_finds_the_same_though_a_worker_is_killed(cluster, alone, tmp_path):
    """Once by its address, while one of two workers is killed on the way; once more by a Client, with the one that is
    left; failures are rows there too, and functions need no module."""
    from distributed import Client

    address, workers = cluster
    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    ended = []

    def progress(done, total, what):
        ended.append(done)
        if done == 3:
            workers[0].kill()

    found = mc.sweep(slow, FRICTIONS, address, folder=tmp_path / "kept", progress=progress)
    assert workers[0].wait(10) != 0 and workers[1].poll() is None
    assert told(found.results) == alone == told(mc.Sweep.load(tmp_path / "kept").results) and ended == [*range(9)]
    with Client(address, set_as_default=False) as client:
        assert told(mc.sweep(throw, FRICTIONS, client).results) == alone
        found = mc.sweep(lambda x: 1 / x, {"x": [0, 2]}, client)
        assert found.failures == {0: "ZeroDivisionError: division by zero"} and found.results[1] == {"value": 0.5}
    (tmp_path / "study.toml").write_text('scene = "pendulum"\nseconds = 0.1\n[grid]\nlength = [1.0, 2.0, -1.0]\n')
    command = [sys.executable, "-m", "mcsim", "sweep", "study.toml", "--scheduler", address]
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "3 runs, 1 failed" in done.stdout, done.stderr


@pytest.mark.filterwarnings("default")
def test_a_scheduler_that_is_not_there():
    pytest.importorskip("distributed")
    with pytest.raises(mc.SceneError, match="no scheduler answers at tcp://127.0.0.1:9"):
        mc.sweep(throw, FRICTIONS, "tcp://127.0.0.1:9")
