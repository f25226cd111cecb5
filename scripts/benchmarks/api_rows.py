"""The rows of the API: what a program waits for that asks over HTTP, what samples cost on their way out, and what a hub takes that serves."""

import contextlib
import http.client
import os
import pathlib
import shutil
import socket
import sqlite3
import statistics
import subprocess
import time

import live_rows
import measure
from result import Result, verdict

HERE = pathlib.Path(__file__).resolve().parent
LATEST, AGAIN = 1000, 30
STRETCH = 526  # minutes: a year has some 1,000 of them
YEAR = "from=2025-01-01T00:00:00Z&to=2026-01-01T00:00:00Z"
YEAR_IN_SQL = f"""SELECT start/{STRETCH * 60_000_000}, min(value), max(value), count(*) FROM sample
    WHERE series=(SELECT id FROM series WHERE type='heartRate') AND start >= 1735689600000000 AND start < 1767225600000000 GROUP BY 1"""


def api(bench):
    """One copy of the store of twenty series is served on one core; whoever asks has the others."""
    store = bench.copied(bench.span_store())
    token = measure.run([bench.vitalgate, "clients", "add", "bench", "--purpose", "Measures", "--store", store]).output.strip()
    types = sorted(set(bench.sqlite(store, "SELECT DISTINCT type FROM series").output.split()))
    measure.run([bench.vitalgate, "clients", "grant", "bench", "--read", ",".join(types), "--store", store])
    rows = []
    with Served(bench, store, token) as served:
        seconds = summed_up(bench, store)
        rows += [*year(bench, store, served, seconds), latest(bench, types, served)]
    with Served(bench, store, token) as served:
        rows.append(lines(bench, served))
    return [*rows, hub(bench)]


class Served:
    """`api serve` on the last core."""

    def __init__(self, bench, store, token):
        self.bench, self.store, self.token = bench, store, token

    def __enter__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        config = self.bench.scratch / "api.json5"
        config.write_text(f'{{ api: {{ listen: "127.0.0.1:{self.port}" }}, timeZone: "UTC" }}', encoding="utf-8")
        words = [self.bench.vitalgate, "--store", self.store, "--config", config, "api", "serve"]
        self.log = open(self.bench.scratch / "api.log", "wb")
        self.process = subprocess.Popen([*measure.pinned(), *map(str, words)], stderr=self.log)
        wait_for(self.port)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def ask(self, connection, path):
        """Milliseconds until the last octet, and the octets."""
        begin = time.perf_counter()
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        octets = answer.read()
        taken = (time.perf_counter() - begin) * 1000
        if answer.status != 200:
            raise SystemExit(f"bench: {path}: {answer.status}: {octets[:200]!r}")
        return taken, octets

    def connection(self):
        return contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=120))

    def cpu_seconds(self):
        return cpu_seconds(self.process.pid)


def wait_for(port):
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise SystemExit("bench: nobody listens")


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def summed_up(bench, store):
    """Seconds until the server has summed up what there is, by itself: it begins ten seconds after its start."""
    bench.say("the API: waiting until it is summed up")
    begin, counts = time.perf_counter(), [0]
    database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    with contextlib.closing(database):
        while time.perf_counter() - begin < 600:
            time.sleep(1)
            counts.append(database.execute("SELECT count(*) FROM summary").fetchone()[0])
            if counts[-1] > 0 and counts[-1] == counts[max(0, len(counts) - 4)]:
                return time.perf_counter() - begin - 3
    raise SystemExit("bench: nothing is summed up")


def year(bench, store, served, seconds):
    """The first question that is asked of the server, and the same again; beside it the same numbers in SQL."""
    bench.say("the API: a year as 1,000 points")
    path = f"/v1/statistics?type=heartRate&every={STRETCH}m&{YEAR}&zone=UTC&format=csv"
    with served.connection() as connection:
        cold, octets = served.ask(connection, path)
        again = [served.ask(connection, path)[0] for _ in range(AGAIN)]
    header, *lines = [line.split(",") for line in octets.decode().splitlines()]
    places = [header.index(name) for name in ("min", "max", "count")]
    ours = [tuple(float(line[place]) for place in places) for line in lines]
    peer_run = bench.sqlite(store, YEAR_IN_SQL)
    peer = [tuple(float(cell) for cell in line.split("|")[1:]) for line in peer_run.output.splitlines()]
    if ours != peer or sum(count for _, _, count in ours) != bench.samples // 2:
        raise SystemExit(f"bench: {len(ours)} stretches, SQL: {len(peer)}, and they differ")
    sql = min(bench.sqlite(store, YEAR_IN_SQL).seconds for _ in range(3)) * 1000
    return [
        Result(
            "api", f"a year at 1 Hz as {len(ours)} points of lowest and highest, {bench.samples // 2:,} samples, the first question of all; summed up {seconds:.0f} s after the start "
            "(peer: SQL)",
            "< 150 ms", "", f"{cold:.0f} ms", f"{sql:.0f} ms", sql / cold, verdict=verdict(cold < 150), values={"milliseconds": cold, "peer": sql}),
        Result(
            "api", f"  the same again (p50 of {AGAIN})", "< 10 ms", "", f"{statistics.median(again):.1f} ms",
            verdict=verdict(statistics.median(again) < 10), values={"milliseconds": again}),
    ]


def latest(bench, types, served):
    bench.say(f"the API: the latest of {len(types)} types")
    with served.connection() as connection:
        taken = []
        for _ in range(LATEST):
            milliseconds, octets = served.ask(connection, "/v1/latest?format=ndjson")
            if (found := octets.count(b"\n")) != len(types):
                raise SystemExit(f"bench: the latest of {found} types")
            taken.append(milliseconds)
    p50, p99 = statistics.median(taken), statistics.quantiles(taken, n=100)[98]
    return Result(
        "api", f"the latest of each of {len(types)} types among {bench.samples:,} samples (p50 {p50:.1f} ms; p99 of {LATEST})", "< 10 ms", "",
        f"{p99:.1f} ms", verdict=verdict(p99 < 10), values={"milliseconds": taken})


def pulled(port, path, token, sink=None):
    """Seconds until a stream's end and its octets as they lie on the wire; they are counted, not looked at."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        begin, count = time.perf_counter(), 0
        connection.sendall(head.encode())
        buffer = bytearray(1 << 20)
        while taken := connection.recv_into(buffer):
            count += taken
            if sink:
                sink.write(buffer[:taken])
        return time.perf_counter() - begin, count


def lines(bench, served):
    """Samples as lines, as fast as they are taken; beside the same octets out of a file on the same library."""
    count = min(bench.samples // 2, 1_000_000)
    path = f"/v1/samples?types=heartRate&format=ndjson&limit={count}"
    file, program = bench.scratch / "lines.ndjson", bench.scratch / "cat"
    with served.connection() as connection:
        octets = served.ask(connection, path)[1]
    if (found := octets.count(b"\n")) != count:
        raise SystemExit(f"bench: {found} lines of {count}")
    file.write_bytes(octets)
    compiler = next(name for name in ("cc", "clang", "gcc") if shutil.which(name))
    subprocess.run([compiler, "-O2", "-o", program, HERE / "cat.c", "-lmicrohttpd"], check=True)
    ours, peer, work, work_peer = [], [], [], []
    with subprocess.Popen([*measure.pinned(), program, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as cat:
        port = int(cat.stdout.readline())
        for index in range(bench.runs):
            bench.say(f"the API: {count:,} lines, run {index + 1} of {bench.runs}")
            for into, busy, where, process in ((ours, work, served.port, served.process.pid), (peer, work_peer, port, cat.pid)):
                before = cpu_seconds(process)
                seconds, taken = pulled(where, path, served.token)
                if taken < len(octets):
                    raise SystemExit(f"bench: {taken} octets of {len(octets)}")
                into.append(seconds)
                busy.append(cpu_seconds(process) - before)
        cat.stdin.close()
    rate, rate_peer = count / statistics.median(ours), count / statistics.median(peer)
    return Result(
        "api", f"{count:,} samples as NDJSON, served on one core (peer: the same bytes from a file, on the same library)", ">= 300,000/s", "",
        f"{rate:,.0f} samples/s", f"{rate_peer:,.0f} samples/s", rate / rate_peer, statistics.median(work_peer) / max(statistics.median(work), 0.01),
        verdict(rate >= 300_000), {"seconds": ours, "peer_seconds": peer, "cpu_seconds": work, "peer_cpu_seconds": work_peer})


def hub(bench):
    bench.say(f"the API: a hub with its page and twenty straps, {bench.watched} s")
    run = live_rows.live(bench, "served", bench.watched)
    peak, share = run["peak_bytes"] / (1 << 20), run["cpu_seconds"] / run["seconds"]
    return Result(
        "api", "a hub that serves page and API, twenty straps at 1 Hz, no requests", "< 60 MB, < 4 % of a core", "", f"{peak:.1f} MB, {share:.2%} of a core",
        verdict=verdict(peak < 60 and share < 0.04), values={"run": run})
