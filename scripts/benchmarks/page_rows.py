"""The rows of the page: what somebody who looks at it waits for, and what a browser loads."""

import json
import math
import pathlib
import statistics
import subprocess

from result import Result, verdict

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def page(bench):
    """In Chromium, with the environment that scripts/check-page makes."""
    bench.say("the page: opening it in Chromium")
    subprocess.run([ROOT / "scripts/check-page", "--prepare"], check=True)
    run = subprocess.run(
        [ROOT / ".build/page/bin/python", "-B", ROOT / "scripts/page.d/measure.py", "--vitalgate", bench.vitalgate],
        check=True, capture_output=True, text=True)
    told = json.loads(run.stdout)
    commits, paints = sorted(told["commits"]), told["paints"]
    last = commits[math.ceil(len(commits) * 0.99) - 1]
    paint = statistics.median(paints)
    return [
        Result(
            "page", f"from a request that has the hub store a reading until the page shows it (p50, p99 of {len(commits)})", "< 300 ms", "",
            f"{statistics.median(commits):.0f} ms, {last:.0f} ms", verdict=verdict(last < 300), values={"milliseconds": commits}),
        Result(
            "page", "first paint on a slow telephone (processor 6x slower, 3G)", "< 2 s", "", f"{paint / 1000:.2f} s",
            verdict=verdict(paint < 2000), values={"milliseconds": paints}),
        Result(
            "page", "style, scripts and texts of the page, packed", "<= 150 kB", "", f"{told['octets'] / 1000:.1f} kB",
            verdict=verdict(told["octets"] <= 150_000), values={"octets": told["octets"]}),
    ]
