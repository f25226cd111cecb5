"""How a program is run and timed: on one core, its time by the wall, its memory as the kernel saw it."""

import dataclasses
import os
import shutil
import subprocess
import tempfile
import time


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


def run(command):
    """Runs to the end. Before it starts, what earlier runs wrote is on the disk; a failure ends the benchmark."""
    os.sync()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(pinned() + [str(word) for word in command], stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            raise SystemExit(f"bench: {command} ended with {process.returncode}: {errors.read().decode()[-2000:]}")
        return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output.read().decode())
