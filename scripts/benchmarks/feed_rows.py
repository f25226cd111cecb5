"""The rows of the feed: what a reader of `vitalgate changes` waits for, and what it costs."""

import json
import shutil
import statistics
import subprocess
import time

import measure
from result import Result, verdict

NEW, DELETIONS, RUNS = 1000, 100, 30


def feed(bench):
    """One store for all: ten million samples, and a thousand that come last, most of them back-dated, in two series that overlap."""
    bench.say("the feed: copying the store")
    store = bench.fresh_store()
    shutil.copyfile(bench.year_store(), store)
    anchor = add(bench, store, "one.csv", [f"2026-01-0{day}T00:00:00Z,bodyMass,8{day},kg,scale" for day in range(1, 3)])
    before = last_anchor(bench, store, anchor, 0)
    # Beside one another in time, by turns of two sources; one in ten lies behind all others.
    rows = []
    for index in range(NEW):
        second = index * 31_000 if index % 10 else 366 * 86400 + index
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(1_735_689_600 + second))
        rows.append(f"{moment}.5Z,heartRate,{60 + index % 40},/min,{'one' if index % 2 else 'other'}")
    add(bench, store, "new.csv", rows)
    return [anchored(bench, store, before), *first(bench, store), follow(bench, store)]


def add(bench, store, name, rows):
    """Imports a few rows; the anchor behind the last change of body masses."""
    file = bench.scratch / name
    file.write_text("time,type,value,unit,source\n" + "\n".join(rows) + "\n", encoding="utf-8")
    bench.imported(file, store, len(rows))
    run = measure.run([bench.vitalgate, "changes", "--types", "bodyMass", "--store", store])
    return json.loads(run.output.splitlines()[-1])["anchor"]


def last_anchor(bench, store, anchor, more):
    lines = measure.run([bench.vitalgate, "changes", "--after", anchor, "--store", store]).output.splitlines()
    if len(lines) != more:
        raise SystemExit(f"bench: {len(lines)} changes behind {anchor}, not {more}")
    return json.loads(lines[-1])["anchor"] if lines else anchor


def anchored(bench, store, anchor):
    """What the new ones cost: a read of them less one of nothing, both with the start of the program."""
    last = last_anchor(bench, store, anchor, NEW)
    command = [bench.vitalgate, "changes", "--store", store, "--after"]
    some, none = [], []
    for _ in range(RUNS):  # by turns, so that both meet the same machine
        some.append(measure.run([*command, anchor]).seconds * 1000)
        none.append(measure.run([*command, last]).seconds * 1000)
    cost = statistics.median(some) - statistics.median(none)
    return Result(
        "feed", f"an anchored read of {NEW:,} new changes among {bench.samples:,} samples (p50 of {RUNS}, less one of none)",
        "< 5 ms", "", f"{cost:.1f} ms", verdict=verdict(cost < 5), values={"milliseconds": some, "milliseconds_of_none": none})


def first(bench, store):
    """The whole feed from its beginning, as far as a fifth of it: when its first line comes, and the memory at its peak."""
    waits, peaks, wanted = [], [], bench.samples // 5
    for _ in range(3):
        start = time.perf_counter()
        process = subprocess.Popen(
            measure.pinned() + [str(bench.vitalgate), "changes", "--store", str(store)], stdout=subprocess.PIPE,
            bufsize=1 << 20)
        process.stdout.readline()
        waits.append((time.perf_counter() - start) * 1000)
        read = 1
        while read < wanted:
            read += process.stdout.read(1 << 20).count(b"\n")
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as status:
            peaks += [int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")]
        process.kill()
        process.communicate()
    nothing = [
        measure.run([bench.vitalgate, "changes", "--store", store, "--types", "bodyMass", "--after", "0"]).seconds * 1000
        for _ in range(RUNS)
    ]
    # The line comes with others, as an output buffer is full.
    wait = statistics.median(waits) - statistics.median(nothing)
    return [
        Result(
            "feed", "the first change of all of them, less the start of the program", "< 5 ms", "", f"{max(wait, 0):.1f} ms",
            verdict=verdict(wait < 5), values={"milliseconds": waits, "milliseconds_of_two": nothing}),
        Result(
            "feed", f"its memory at the peak, after {wanted:,} changes", "flat", "", f"{max(peaks):.1f} MB",
            verdict=verdict(max(peaks) < 32), values={"megabytes": peaks}),
    ]


def follow(bench, store):
    """From the start of a program that deletes one sample, or restores it, to a follower's having the line: an upper bound."""
    lines = measure.run([bench.vitalgate, "query", "bodyMass", "--format", "ndjson", "--store", store]).output.splitlines()
    uuid = json.loads(lines[0])["uuid"]
    command = [str(bench.vitalgate), "changes", "--types", "bodyMass", "--follow", "--store", str(store)]
    follower = subprocess.Popen(command, stdout=subprocess.PIPE)
    waits = []
    try:
        for _ in lines:
            follower.stdout.readline()
        for index in range(DELETIONS):
            start = time.perf_counter()
            subprocess.run(
                [str(bench.vitalgate), "restore" if index % 2 else "delete", uuid, "--store", str(store)], check=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            line = json.loads(follower.stdout.readline())
            waits.append((time.perf_counter() - start) * 1000)
            if uuid not in (line.get("deleted"), line.get("uuid")):
                raise SystemExit("bench: the follower was told of another sample")
    finally:
        follower.kill()
        follower.communicate()
    waits.sort()
    p50, p99 = waits[len(waits) // 2], waits[len(waits) * 99 // 100]
    return Result(
        "feed", f"from the start of a program that deletes one sample to a follower's line (p50, p99 of {DELETIONS})",
        "<= 50 ms", "", f"{p50:.1f}, {p99:.1f} ms", verdict=verdict(p99 <= 50), values={"milliseconds": waits})
