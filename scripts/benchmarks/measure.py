"""How a program is run and timed: on one core, its time by the wall, its memory as the kernel saw it."""

import dataclasses
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


@dataclasses.dataclass
class Run:
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    output: str


def pinned():
    """The prefix that keeps a program on the last core: the first is the one that serves most interrupts."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2 or not shutil.which("taskset"):
        return []
    return ["taskset", "--cpu-list", str(cores[-1])]


def run(command, on_all_cores=False):
    """Runs to the end. Before it starts, what earlier runs wrote is on the disk; a failure ends the benchmark."""
    os.sync()
    with tempfile.NamedTemporaryFile() as output, tempfile.NamedTemporaryFile() as errors:
        order = {"command": ([] if on_all_cores else pinned()) + [str(word) for word in command], "output": output.name, "errors": errors.name}
        launcher().stdin.write(json.dumps(order) + "\n")
        launcher().stdin.flush()
        answer = json.loads(launcher().stdout.readline())
        if answer["code"] != 0:
            raise SystemExit(f"bench: {command} ended with {answer['code']}: {errors.read().decode()[-2000:]}")
        return Run(answer["seconds"], answer["cpu_seconds"], answer["peak_bytes"], output.read().decode())


@functools.cache
def launcher():
    """The small process that starts the programs."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(pathlib.Path(__file__).with_name("launcher.py"))], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
