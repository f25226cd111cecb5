"""The rows of a hub's memory with a fleet target: the hub with it, beside the same hub without it."""
import contextlib
import json
import pathlib
import subprocess
import time

import export_rows
from result import Result, verdict

BEAT = 0.01  # seconds between two looks


def family(process):
    """A process with its children, which deliver to the targets."""
    tasks = pathlib.Path(f"/proc/{process}/task").glob("*/children")
    return [process, *(int(child) for task in tasks for child in task.read_text(encoding="ascii").split())]


def memory(process):
    """The memory of a process and its children, in bytes: what is in no file, and all of it, with each shared page once."""
    sizes = []
    for each in family(process):
        # A child may end at any time.
        with contextlib.suppress(OSError):
            lines = pathlib.Path(f"/proc/{each}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
            fields = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
            sizes.append((fields["Anonymous"], fields["Pss"]))
    return tuple(map(sum, zip(*sizes)))


@contextlib.contextmanager
def hub(bench, store, targets):
    config = bench.scratch / "hub.json5"
    config.write_text(json.dumps({"hub": {"sources": {"radio": "ignore"}}, "targets": targets}), encoding="utf-8")
    process = subprocess.Popen([bench.vitalgate, "--store", store, "--config", config, "run"], stderr=subprocess.DEVNULL)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def peaks(process, is_done):
    """The largest sizes until something is true, and for two seconds after it."""
    largest, end = (0, 0), None
    while end is None or time.monotonic() < end:
        largest = tuple(map(max, largest, memory(process)))
        if end is None and is_done():
            end = time.monotonic() + 2
        time.sleep(BEAT)
    return largest


def fleet_memory(bench):
    """A hub that delivers a backlog to a fleet's center, beside one without targets. Both have the same store."""
    count = min(bench.rows, 200_000)
    store = bench.fresh_store()
    bench.imported(bench.data("mixed", count), store, count)
    with export_rows.server() as host, export_rows.nats() as (port, _):
        broker = {"fleet": "bench", "servers": [f"nats://127.0.0.1:{port}"]}
        center = bench.scratch / "center.json5"
        center.write_text(json.dumps({"collect": {"broker": broker, "database": {"host": host, "database": "postgres", "user": "vitalgate"}}}), encoding="utf-8")
        collect = [bench.vitalgate, "--config", center, "collect"]

        def stored():
            return int(subprocess.run(
                ["psql", "-qAt", "-h", host, "-U", "vitalgate", "-d", "postgres", "-c", "SELECT count(*) FROM vitalgate.sample"], check=True,
                capture_output=True, text=True).stdout)

        start = time.monotonic()
        with hub(bench, store, {}) as process:
            without, all_without = peaks(process, lambda: time.monotonic() > start + 3)
        differences, totals = [], []
        for index in range(bench.runs):
            bench.say(f"a hub that delivers {count:,} samples, run {index + 1} of {bench.runs}")
            subprocess.run(["psql", "-q", "-h", host, "-U", "vitalgate", "-d", "postgres", "-c", "DROP SCHEMA IF EXISTS vitalgate CASCADE"], check=True, stderr=subprocess.DEVNULL)
            subprocess.run([*collect, "--create"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([bench.vitalgate, "--store", store, "--config", bench.scratch / "hub.json5", "targets", "restart", "center"], check=False, capture_output=True)
            with subprocess.Popen(collect, stderr=subprocess.DEVNULL) as collector, hub(bench, store, {"center": {"kind": "fleet", **broker}}) as process:
                with_it, all_with = peaks(process, lambda: stored() == count)
                differences.append(with_it - without)
                totals.append(all_with)
                collector.terminate()
    part, total = max(differences) / 1e6, max(totals) / 1e6
    return [
        Result(
            "fleet-memory", f"the part of a fleet target in a hub's own memory, with {count:,} samples to deliver", "<= 8 MB", "", f"{part:.1f} MB",
            verdict=verdict(part <= 8), values={"bytes": differences, "without": without}),
        Result("fleet-memory", "  all memory of this hub, with the pages of its program", "< 40 MB", "", f"{total:.1f} MB (without the target {all_without / 1e6:.1f} MB)", verdict=verdict(total < 40)),
    ]
