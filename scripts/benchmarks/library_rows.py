"""The rows of the library: what a program that imports it waits for, without the start of a program and without a server."""

import pathlib
import statistics
import subprocess

import measure
from result import Result, verdict

PACKAGE = pathlib.Path(__file__).resolve().parent / "Library"
TIMES = 1000
SAVES = 100
MOST = 20


def library(bench):
    """Each on the store of twenty series; what writes has a copy."""
    bench.say("building the program that uses the library")
    build = ["swift", "build", "--package-path", PACKAGE, "-c", "release", "--scratch-path", bench.folder / "library"]
    subprocess.run(build, stdout=subprocess.DEVNULL, check=True)
    folder = subprocess.run([*build, "--show-bin-path"], capture_output=True, text=True, check=True).stdout.strip()
    program, store = pathlib.Path(folder) / "LibraryBench", bench.span_store()
    return [*questions(bench, program, store), *memory(bench, program, store), observer(bench, program)]


def milliseconds(program, *words):
    return [tuple(map(float, line.split())) for line in measure.run([program, *words]).output.splitlines()]


def questions(bench, program, store):
    """A stretch of 1,000 samples, and the latest of each type."""
    bench.say("library: ranges and the latest")
    ranges = milliseconds(program, store, "range", "heartRate", str(TIMES))
    if any(count != 1000 for _, count in ranges):
        raise SystemExit(f"bench: a range has {min(count for _, count in ranges)} samples of 1,000")
    types = bench.sqlite(store, "SELECT DISTINCT type FROM series").output.split()
    latest = milliseconds(program, store, "recent", *types, str(TIMES // len(types)))
    if any(count != 1 for _, count in latest):
        raise SystemExit("bench: a type has no latest sample")
    wait, each = statistics.quantiles((time for time, _ in ranges), n=100)[98], statistics.quantiles((time for time, _ in latest), n=100)
    return [
        Result(
            "library", f"a range of 1,000 of {bench.samples:,} samples in a Swift program (p99 of {TIMES} stretches)", "< 2 ms", "", f"{wait:.2f} ms",
            verdict=verdict(wait < 2), values={"milliseconds": [time for time, _ in ranges]}),
        Result(
            "library", f"  the latest of a type (p50 {each[49]:.2f} ms; p99 of {len(latest):,}, {len(types)} types)", "< 1 ms", "", f"{each[98]:.2f} ms",
            verdict=verdict(each[98] < 1), values={"milliseconds": [time for time, _ in latest]}),
    ]


def memory(bench, program, store):
    """Half the store walked, in the order of time and of values: the peak above that of one range."""
    least = measure.run([program, store, "range", "heartRate", "1"]).peak_bytes
    results = []
    for what, words in (("stream", "in their order"), ("sorted", "sorted by value")):
        bench.say(f"library: {bench.samples // 2:,} samples {words}")
        run = measure.run([program, store, what, "heartRate"])
        if int(run.output) != bench.samples // 2:
            raise SystemExit(f"bench: {run.output.strip()} samples were told of {bench.samples // 2}")
        more = (run.peak_bytes - least) / 1e6
        results.append(
            Result(
                "library", f"  {bench.samples // 2:,} samples {words}: memory at the peak, above that of 1,000 ({least / 1e6:.1f} MB)", f"< {MOST} MB", "",
                f"{more:.1f} MB", verdict=verdict(more < MOST), values={"bytes": run.peak_bytes, "least_bytes": least, "seconds": run.seconds}))
    return results


def observer(bench, program):
    """From the end of a save in one process to the update in another."""
    bench.say("library: an observer of another process's saves")
    store = bench.copied(bench.span_store())
    with subprocess.Popen([program, store, "observe", "heartRate", str(SAVES)], stdout=subprocess.PIPE, text=True) as listening:
        if listening.stdout.readline().strip() != "ready":
            raise SystemExit("bench: the observer does not begin")
        saved = [float(line) for line in measure.run([program, store, "save", "heartRate", str(SAVES)], on_all_cores=True).output.splitlines()]
        heard = [float(line) for line in listening.stdout]
    if len(heard) != SAVES or len(saved) != SAVES:
        raise SystemExit(f"bench: {len(heard)} updates of {len(saved)} saves")
    # An observer may hear of a commit before the one who saved is told that it is durable.
    waits = [max(update - save, 0) for save, update in zip(saved, heard)]
    wait = statistics.quantiles(waits, n=100)[98]
    return Result(
        "library", f"  from a commit to an observer in another process (p99 of {SAVES})", "< 50 ms", "", f"{wait:.1f} ms", verdict=verdict(wait < 50),
        values={"milliseconds": waits})
