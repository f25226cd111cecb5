"""The rows of the hub: Bluetooth frames from a bus to the store. They run live.py, and latency.py in the machine of scripts/bluez-vm."""

import json
import pathlib
import statistics
import subprocess
import sys

from result import Result, verdict

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def live(bench, mode, count):
    """One run of live.py, with the Python that has dbus-fast."""
    bench.fresh_store()
    command = [bench.python, "-B", HERE / "live.py", bench.vitalgate, bench.scratch, mode, str(count)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(f"bench: {mode} ended with {run.returncode}")
    return json.loads(run.stdout)


def flood(bench):
    runs = []
    for index in range(bench.runs):
        bench.say(f"a flood of frames, run {index + 1} of {bench.runs}")
        runs.append(live(bench, "flood", bench.frames))
    rate = statistics.median(run["frames"] / run["seconds"] for run in runs)
    return [Result(
        "flood", f"heart-rate frames from BlueZ's socket to a durable commit, {bench.frames:,} as fast as they are taken", "", "",
        f"{rate:,.0f} frames/s", values={"runs": runs})]


def crowd(bench):
    bench.say(f"nobody, one strap and twenty at 1 Hz, {bench.watched} s each")
    rest, one, busy = (live(bench, mode, bench.watched) for mode in ("rest", "one", "crowd"))
    share, share_at_rest = (run["cpu_seconds"] / run["seconds"] for run in (busy, rest))
    peak, peak_at_rest = (run["peak_bytes"] / (1 << 20) for run in (busy, rest))
    return [
        Result("crowd", "the hub at rest", "< 25 MB", "", f"{peak_at_rest:.1f} MB, {share_at_rest:.2%} of a core",
               verdict=verdict(peak_at_rest < 25), values={"run": rest}),
        Result("crowd", "twenty straps at 1 Hz", "< 40 MB, < 2 % of a core", "", f"{peak:.1f} MB, {share:.2%} of a core",
               verdict=verdict(peak < 40 and share < 0.02), values={"run": busy}),
        Result("crowd", "the hub, from its start until it listens to a strap", "", "", f"{one['ready_seconds'] * 1000:.0f} ms",
               values={"run": one}),
    ]


def wear(bench):
    results = []
    for mode, straps, target in (("wear-one", "one strap", 400), ("wear-twenty", "twenty straps", 120)):
        bench.say(f"what {straps} at 1 Hz wear a card, {bench.worn} s by the hub's clock")
        run = live(bench, mode, bench.worn)
        pages, device = run["bytes_per_sample"], run["device_bytes_per_sample"]
        text = f"{pages:,.0f}" + (f"; at the device {device:,.0f}" if device is not None else "")
        results.append(Result("wear", f"bytes that the hub writes for a sample, {straps} at 1 Hz", f"<= {target}", "", text,
                              verdict=verdict((device or pages) <= target), values={"run": run}))
    return results


def heard(bench):
    bench.say(f"{bench.addresses:,} addresses")
    run = live(bench, "heard", bench.addresses)
    peak = run["peak_bytes"] / (1 << 20)
    return [Result("heard", f"the hub's peak memory, {bench.addresses:,} addresses heard that BlueZ does not forget", "< 40 MB", "",
                   f"{peak:.1f} MB", verdict=verdict(peak < 40), values={"run": run})]


def needs_swift(program):
    """Whether it was linked against the toolchain's libraries, which the machine has not."""
    return "libswiftCore" in subprocess.run(["readelf", "-d", program], stdout=subprocess.PIPE, text=True, check=True).stdout


def latency(bench):
    bench.say(f"latency in the machine, {bench.watched} values")
    command = [ROOT / "scripts" / "bluez-vm", "run", "--quiet", "--sensors", "heart", "--timeout", "1200", "--share", f"{ROOT}:ro",
               "--share", f"{bench.vitalgate.parent}:ro", *(["--swift"] if needs_swift(bench.vitalgate) else []), "--chdir", "/", "--", "python3", "-B", HERE / "latency.py", bench.vitalgate,
               ROOT / "DeviceProfiles", str(bench.watched)]
    run = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=sys.stderr, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(f"bench: latency ended with {run.returncode}")
    seconds = sorted(json.loads(run.stdout)["seconds"])
    p50, p99 = (seconds[min(len(seconds) - 1, int(len(seconds) * share))] for share in (0.5, 0.99))
    return [Result(
        "latency", f"a strap's notification, through bluetoothd, until a reader of `changes` has it ({len(seconds)} at 1 Hz, in the machine)",
        "", "", f"p50 {p50:.2f} s, p99 {p99:.2f} s", values={"seconds": seconds})]
