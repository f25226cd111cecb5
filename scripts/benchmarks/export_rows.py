"""The rows of exporters: how fast a target gets a store of a million, beside what it takes bare."""

import contextlib
import json
import os
import pathlib
import pwd
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

import measure
from result import Result, verdict


def files(bench):
    """Lines of NDJSON, durable."""
    store = filled(bench)
    runs = []
    for index in range(bench.runs):
        bench.say(f"export into files, run {index + 1} of {bench.runs}")
        folder = bench.scratch / f"files-{index}"
        config = configured(bench, {"archive": {"kind": "files", "folder": str(folder), "daily": False}})
        measure.run([bench.vitalgate, "targets", "restart", "archive", "--store", store, "--config", config])
        runs.append(measure.run([bench.vitalgate, "export", "archive", "--once", "--store", store, "--config", config]))
        lines = sum(file.read_bytes().count(b"\n") for file in folder.glob("*.ndjson"))
        if lines != bench.rows:
            raise SystemExit(f"bench: {lines:,} lines were exported, not {bench.rows:,}")
        shutil.rmtree(folder)
    rate = bench.rows / statistics.median(run.seconds for run in runs)
    return [
        Result(
            "files", f"export of {bench.rows:,} samples into files of NDJSON, durable", ">= 500,000 samples/s", "", f"{rate:,.0f} samples/s",
            verdict=verdict(rate >= 500_000), values={"seconds": [run.seconds for run in runs]}),
        memory("files", runs),
    ]


def postgresql(bench):
    """COPY into a temporary table, from there into ours; beside a COPY of the same rows into an equal table."""
    store, runs, bare = filled(bench), [], []
    with server() as host:
        def sql(text):
            start = time.perf_counter()
            subprocess.run(["psql", "-q", "-h", host, "-U", "vitalgate", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-c", text], check=True)
            return time.perf_counter() - start

        config = configured(bench, {"db": {"kind": "postgresql", "host": host, "database": "postgres", "user": "vitalgate"}})
        command = [bench.vitalgate, "--store", store, "--config", config]
        for index in range(bench.runs):
            bench.say(f"export into PostgreSQL, run {index + 1} of {bench.runs}")
            sql("DROP SCHEMA IF EXISTS vitalgate CASCADE; DROP TABLE IF EXISTS bare")
            measure.run([*command, "targets", "check", "db", "--create"])
            measure.run([*command, "targets", "restart", "db"])
            runs.append(measure.run([*command, "export", "db", "--once"], on_all_cores=True))
            sql(f"COPY vitalgate.sample TO '{host}/rows'; CREATE TABLE bare(LIKE vitalgate.sample INCLUDING ALL); CHECKPOINT")
            bare.append(sql(f"COPY bare FROM '{host}/rows'"))
    rate = bench.rows / statistics.median(run.seconds for run in runs)
    limit = bench.rows / statistics.median(bare)
    return [
        Result(
            "postgresql", f"export of {bench.rows:,} samples into PostgreSQL, beside a bare COPY of the rows",
            ">= 100,000 samples/s, >= 50 %", "", f"{rate:,.0f} samples/s", peer=f"{limit:,.0f} rows/s", ratio=rate / limit,
            verdict=verdict(rate >= 100_000 and rate >= limit / 2),
            values={"seconds": [run.seconds for run in runs], "peer_seconds": bare}),
        memory("postgresql", runs),
    ]


def mqtt(bench):
    """A message for each sample, acknowledged; beside Mosquitto's own client, which publishes the same lines."""
    count = min(bench.rows, 100_000)
    store, runs, bare = bench.fresh_store(), [], []
    bench.imported(bench.data("mixed", count), store, count)
    lines = bench.scratch / "lines"
    with broker() as port:
        config = configured(bench, {"home": {"kind": "mqtt", "url": f"mqtt://127.0.0.1:{port}"}})
        command = [bench.vitalgate, "--store", store, "--config", config]
        with lines.open("wb") as file:
            subprocess.run([bench.vitalgate, "--store", store, "changes"], check=True, stdout=file)
        for index in range(bench.runs):
            bench.say(f"export to an MQTT broker, run {index + 1} of {bench.runs}")
            measure.run([*command, "targets", "restart", "home"])
            runs.append(measure.run([*command, "export", "home", "--once"], on_all_cores=True))
            with lines.open("rb") as file:
                start = time.perf_counter()
                subprocess.run(
                    ["mosquitto_pub", "-h", "127.0.0.1", "-p", str(port), "-V", "5", "-q", "1", "-t", "bare", "-l"], check=True, stdin=file)
                bare.append(time.perf_counter() - start)
    rate = count / statistics.median(run.seconds for run in runs)
    limit = count / statistics.median(bare)
    return [
        Result(
            "mqtt", f"export of {count:,} samples to an MQTT broker, acknowledged, beside mosquitto_pub", ">= 5,000 messages/s", "",
            f"{rate:,.0f} messages/s", peer=f"{limit:,.0f} messages/s", ratio=rate / limit, verdict=verdict(rate >= 5000),
            values={"seconds": [run.seconds for run in runs], "peer_seconds": bare}),
        memory("mqtt", runs),
    ]


def memory(row, runs):
    peak = max(run.peak_bytes for run in runs)
    return Result(
        row, "  its peak memory", "< 40 MB", "", f"{peak / (1 << 20):.1f} MB", verdict=verdict(peak < 40 << 20), values={"peak_bytes": peak})


def filled(bench):
    """A store of a million samples of mixed types."""
    store = bench.fresh_store()
    bench.imported(bench.data("mixed", bench.rows), store, bench.rows)
    return store


def configured(bench, targets):
    path = bench.scratch / "targets.json5"
    path.write_text(json.dumps({"targets": targets}), encoding="utf-8")
    return path


@contextlib.contextmanager
def broker():
    """Debian's Mosquitto on a free port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(["/usr/sbin/mosquitto", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def server():
    """Debian's PostgreSQL as it comes, on a socket in a folder of its own."""
    binaries = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    with tempfile.TemporaryDirectory() as folder:
        prefix = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(folder, user.pw_uid, user.pw_gid)
            prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([*prefix, binaries / "initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "vitalgate"], check=True, **quiet)
        process = subprocess.Popen(
            [*prefix, binaries / "postgres", "-D", f"{folder}/data", "-k", folder, "-c", "listen_addresses="], **quiet)
        try:
            while subprocess.run([binaries / "pg_isready", "-q", "-h", folder], check=False).returncode != 0:
                time.sleep(0.1)
            yield folder
        finally:
            process.terminate()
            process.wait()
