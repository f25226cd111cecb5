"""The rows of statistics: a year of days of a series at 1 Hz, asked again, sources merged, readers beside a writer."""

import contextlib
import datetime
import json
import os
import re
import socket
import statistics
import subprocess
import threading
import time

import measure
from result import Result, verdict

YEAR = (1_735_689_600, 1_767_225_600)  # 2025
RANGE = ["--from", "2025-01-01T00:00:00Z", "--to", "2026-01-01T00:00:00Z", "--time-zone", "UTC"]
DAYS_IN_SQL = f"""SELECT start/86400000000, avg(value), min(value), max(value), count(*) FROM sample
    WHERE series=(SELECT id FROM series WHERE type='heartRate') AND start >= {YEAR[0]}000000 AND start < {YEAR[1]}000000 GROUP BY 1"""
DAYS_IN_DUCKDB = "SELECT time // 86400000000, avg(value), min(value), max(value), count(*) FROM s GROUP BY 1 ORDER BY 1"
AGAIN, READERS, PAUSE, QUESTIONS = 30, 8, 0.5, 500


def days(bench):
    """Beside SQL on the same table, and DuckDB's own file of the same numbers where it is installed."""
    store = bench.span_store()
    command = [bench.vitalgate, "stats", "heartRate", "--every", "1d", *RANGE, "--format", "csv", "--store", store]
    counts = [int(line.split(",")[5]) for line in measure.run(command).output.splitlines()[1:]]
    counts_peer = [int(line.split("|")[-1]) for line in bench.sqlite(store, DAYS_IN_SQL).output.splitlines()]
    if counts != counts_peer or sum(counts) != bench.samples // 2:
        raise SystemExit(f"bench: the days differ: {sum(counts)} samples on {len(counts)} days, SQL: {sum(counts_peer)}")
    ours, peer = [], []
    for index in range(bench.runs):
        bench.say(f"days of a year at 1 Hz, run {index + 1} of {bench.runs}")
        peer.append(bench.sqlite(store, DAYS_IN_SQL))
        ours.append(measure.run(command, on_all_cores=True))
    seconds, seconds_peer = (statistics.median(run.seconds for run in runs) for runs in (ours, peer))
    work, work_peer = (statistics.median(run.cpu_seconds for run in runs) for runs in (ours, peer))
    duck = duckdb(bench, store)
    beside = f" (DuckDB's own file: {duck:.3f} s)" if duck else " (DuckDB is not there)"
    return [
        Result(
            "days", f"days of a year at 1 Hz on all cores, {sum(counts):,} of {bench.samples:,} samples{beside}", "4x plain SQL", "1x",
            f"{seconds:.3f} s", f"{seconds_peer:.3f} s", seconds_peer / seconds, work_peer / work,
            verdict(seconds_peer / seconds >= 4, seconds_peer / seconds >= 1),
            {"seconds": [run.seconds for run in ours], "peer_seconds": [run.seconds for run in peer], "duckdb_seconds": duck})
    ]


def duckdb(bench, store):
    """Seconds of the query alone, on one core, the median of five; none where it is not installed."""
    if subprocess.run([bench.python, "-c", "import duckdb"], capture_output=True, check=False).returncode != 0:
        return None
    rows, base = bench.scratch / "duck.csv", bench.scratch / "duck.db"
    select = DAYS_IN_SQL[DAYS_IN_SQL.index("FROM") : DAYS_IN_SQL.index("GROUP")]
    with open(rows, "w", encoding="utf-8") as file:
        subprocess.run(["sqlite3", "-csv", store, f"SELECT start, value {select}"], stdout=file, check=True)
    code = f"""
import duckdb, statistics, time
base = duckdb.connect({str(base)!r})
base.execute("SET threads = 1")
base.execute("CREATE OR REPLACE TABLE s AS SELECT * FROM read_csv({str(rows)!r}, columns={{'time': 'BIGINT', 'value': 'DOUBLE'}}, header=false)")
taken = []
for _ in range(5):
    start = time.perf_counter()
    base.execute({DAYS_IN_DUCKDB!r}).fetchall()
    taken.append(time.perf_counter() - start)
print(statistics.median(taken))
"""
    seconds = float(measure.run([bench.python, "-c", code]).output)
    rows.unlink()
    base.unlink()
    return seconds


def anew(bench):
    """One new sample in the year, and what it takes a follower to have all days again."""
    store = bench.copied(bench.span_store())
    command = [bench.vitalgate, "stats", "heartRate", "--every", "1d", *RANGE, "--format", "ndjson", "--follow", "--explain"]
    with subprocess.Popen(
        measure.pinned() + [str(word) for word in [*command, "--store", store]], stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True
    ) as follower:
        try:
            answers = (re.search(r"([\d,]+) changed, ([\d,]+) rows? read, ([\d.]+) ms", line) for line in follower.stderr)
            told = (answer for answer in answers if answer)
            first = float(next(told)[3])
            milliseconds, rows = [], []
            for index in range(AGAIN):
                moment = datetime.datetime.fromtimestamp(YEAR[0] + (index * 11 + 3) * 86400 + 7 * 3600 + 60, datetime.timezone.utc)
                file = bench.scratch / "one.csv"
                file.write_text(
                    f"time,type,value,unit,end,source\n{moment:%Y-%m-%dT%H:%M:%S}.5Z,heartRate,{90 + index},/min,,Strap\n", encoding="utf-8")
                measure.run([bench.vitalgate, "import", file, "--exact", "--store", store])
                answer = next(told)
                if answer[1] != "1":
                    raise SystemExit(f"bench: one new sample changed {answer[1]} days")
                milliseconds.append(float(answer[3]))
                rows.append(int(answer[2].replace(",", "")))
        finally:
            follower.kill()
    cost = statistics.median(milliseconds)
    return [
        Result(
            "anew", f"days of a year asked again after one new sample (p50 of {AGAIN}, {statistics.median(rows):,.0f} rows read; the first time "
            f"{first:,.0f} ms)", "< 5 ms", "", f"{cost:.1f} ms", verdict=verdict(cost < 5), values={"milliseconds": milliseconds, "rows": rows})
    ]


def merged(bench):
    """Steps of three sources by day: each moment once, and everything summed up."""
    store = bench.span_store()
    command = [bench.vitalgate, "stats", "stepCount", "--every", "1d", *RANGE, "--format", "csv", "--store", store]
    ours, peer = [], []
    for index in range(bench.runs):
        bench.say(f"merged sources, run {index + 1} of {bench.runs}")
        peer.append(measure.run([*command, "--every-source"]))
        ours.append(measure.run(command))
    seconds, seconds_peer = (statistics.median(run.seconds for run in runs) for runs in (ours, peer))
    return [
        Result(
            "merged", "steps of a year by day, three sources merged (peer: each in full)", "<= 3x the time", "", f"{seconds:.3f} s",
            f"{seconds_peer:.3f} s", seconds_peer / seconds, verdict=verdict(seconds <= 3 * seconds_peer),
            values={"seconds": [run.seconds for run in ours], "peer_seconds": [run.seconds for run in peer]})
    ]


def readers(bench):
    """Eight that ask a server for 1,000 samples twice a second while one imports: what that costs the one, and how long the others wait."""
    file, count = bench.data("mixed", bench.rows), bench.rows
    store = bench.copied(bench.span_store())
    command = [bench.vitalgate, "import", file, "--store", store, "--exact", "--format", "ndjson", "--time-zone", "UTC"]
    undisturbed = measure.run(command, on_all_cores=True).seconds
    bench.copied(bench.span_store())
    waits, stopped = [], threading.Event()

    with served(bench, store) as (socket_path, token):
        def read(number):
            # Not all at once.
            stopped.wait(PAUSE * number / READERS)
            connection = LocalConnection(socket_path)
            while not stopped.is_set():
                # Another stretch each time.
                begin = YEAR[0] + (len(waits) * 37 + number) % 160 * 86400
                moment = datetime.datetime.fromtimestamp(begin, datetime.timezone.utc)
                begun = time.perf_counter()
                answer = connection.ask(f"/v1/samples?types=heartRate&from={moment:%Y-%m-%dT%H:%M:%SZ}&limit=1000", token)
                waits.append((time.perf_counter() - begun) * 1000)
                lines = unchunked(answer).count(b"\n")
                if lines != 1000:
                    raise SystemExit(f"bench: a reader got {lines} samples of 1,000")
                stopped.wait(PAUSE)

        threads = [threading.Thread(target=read, args=(number,)) for number in range(READERS)]
        for thread in threads:
            thread.start()
        run = measure.run(command, on_all_cores=True)
        # The slowest of a hundred needs more questions than one import leaves time for: the same file of other people.
        others = 0
        while len(waits) < QUESTIONS and others < 100:
            others += 1
            measure.run([*command, "--person", f"00000000-0000-4000-8000-{others:012}"], on_all_cores=True)
        stopped.set()
        for thread in threads:
            thread.join()
    if json.loads(run.output.splitlines()[-1])["read"] != count:
        raise SystemExit(f"bench: the import read {run.output}")
    speed = undisturbed / run.seconds
    wait = statistics.quantiles(waits, n=100)[98]
    return [
        Result(
            "readers", f"an import beside {READERS} readers (peer: alone)", ">= 0.8x", "", f"{run.seconds:.1f} s", f"{undisturbed:.1f} s", speed,
            verdict=verdict(speed >= 0.8), values={"seconds": run.seconds, "peer_seconds": undisturbed}),
        Result(
            "readers", f"  a reader's wait for 1,000 samples over HTTP (p99 of {len(waits)})", "< 10 ms", "", f"{wait:.1f} ms",
            verdict=verdict(wait < 10), values={"milliseconds": waits}),
    ]


class LocalConnection:
    """HTTP over a Unix socket, whose answers are taken as octets: to read them in Python takes as long as to make them."""

    END = b"\r\n0\r\n\r\n"

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)

    def ask(self, target, token):
        """The whole answer, up to the end of its last chunk."""
        self.socket.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        answer = bytearray()
        while not answer.endswith(self.END):
            octets = self.socket.recv(1 << 18)
            if not octets:
                raise SystemExit(f"bench: an answer ended early: {bytes(answer[:200])}")
            answer += octets
        return answer


def unchunked(answer):
    """The body of an answer in chunks."""
    head, _, rest = bytes(answer).partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 ") or b"chunked" not in head.lower():
        raise SystemExit(f"bench: a reader was answered {head[:200]}")
    body, at = [], 0
    while True:
        end = rest.index(b"\r\n", at)
        length = int(rest[at:end].split(b";")[0], 16)
        if length == 0:
            return b"".join(body)
        body.append(rest[end + 2:end + 2 + length])
        at = end + 2 + length + 2


@contextlib.contextmanager
def served(bench, store):
    """Serves a store to a client that may read heart rates; gives the socket's path and the client's token."""
    socket_path, configuration = str(bench.scratch / "api"), bench.scratch / "api.json5"
    configuration.write_text(json.dumps({"api": {"listen": f"unix:{socket_path}"}}), encoding="utf-8")
    token = measure.run([bench.vitalgate, "clients", "add", "bench", "--purpose", "Measuring", "--store", store]).output.strip()
    measure.run([bench.vitalgate, "clients", "grant", "bench", "--read", "heartRate", "--store", store])
    with subprocess.Popen(
        [bench.vitalgate, "api", "serve", "--store", store, "--config", configuration], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            while not os.path.exists(socket_path) and server.poll() is None:
                time.sleep(0.01)
            yield socket_path, token
        finally:
            server.terminate()
            server.wait()
