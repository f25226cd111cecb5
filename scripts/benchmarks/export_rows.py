"""The rows of exporters: how fast a target gets a store of a million, beside what it takes bare."""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import pwd
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading
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


def fleet(bench):
    """Hubs, a NATS broker, and one collector, into PostgreSQL; beside a bare COPY of the same rows into an equal table."""
    results = []
    # Many hubs take long enough that the start of their processes does not count.
    for hubs, most in ((1, 200_000), (20, 1_000_000)):
        count = min(bench.rows, most) // hubs
        bench.fresh_store()
        stores = [bench.scratch / f"hub{index}.vitalgate" for index in range(hubs)]
        for store in stores:
            bench.imported(bench.data("mixed", count), store, count)
        results += collected(bench, stores, count * hubs)
    return results


def collected(bench, stores, count):
    """The rows of some stores that are exported at once."""
    runs, bare, collectors, exporters, wires, comparisons, costs = [], [], [], [], [], [], []
    hubs = "one hub" if len(stores) == 1 else f"{len(stores)} hubs"
    with server() as host, nats() as (port, monitor):
        def sql(text):
            start = time.perf_counter()
            subprocess.run(["psql", "-q", "-h", host, "-U", "vitalgate", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-c", text], check=True)
            return time.perf_counter() - start

        broker = {"fleet": "bench", "servers": [f"nats://127.0.0.1:{port}"]}
        center = bench.scratch / "center.json5"
        database = {"host": host, "database": "postgres", "user": "vitalgate"}
        center.write_text(json.dumps({"collect": {"broker": broker, "database": database}}))
        config = configured(bench, {"center": {"kind": "fleet", **broker}})
        for index in range(bench.runs):
            bench.say(f"export of {hubs} over a broker, run {index + 1} of {bench.runs}")
            sql("DROP SCHEMA IF EXISTS vitalgate CASCADE; DROP TABLE IF EXISTS bare")
            subprocess.run([bench.vitalgate, "--config", center, "collect", "--create"], check=True, stdout=subprocess.DEVNULL)
            commands = [[bench.vitalgate, "--store", store, "--config", config] for store in stores]
            with subprocess.Popen([bench.vitalgate, "--config", center, "collect"], stderr=subprocess.DEVNULL) as collector:
                while subprocess.run([*commands[0], "targets", "check", "center"], check=False, capture_output=True).returncode != 0:
                    time.sleep(0.1)
                for command in commands:
                    subprocess.run([*command, "targets", "restart", "center"], check=True, stdout=subprocess.DEVNULL)
                sql("CHECKPOINT")
                before, spent = received(monitor), center_costs(host, collector.pid)
                seconds, largest = together([[*command, "export", "center", "--once"] for command in commands])
                runs.append(seconds)
                exporters.append(largest)
                wires.append(received(monitor) - before)
                costs.append([(after - first) / count for first, after in zip(spent, center_costs(host, collector.pid))])
                start = time.perf_counter()
                subprocess.run([*commands[0], "targets", "verify", "center", "--dry-run"], check=True, stdout=subprocess.DEVNULL)
                comparisons.append(time.perf_counter() - start)
                collectors.append(peak_memory(collector.pid))
                collector.terminate()
            sql(f"COPY vitalgate.sample TO '{host}/rows'; CREATE TABLE bare(LIKE vitalgate.sample INCLUDING ALL); CHECKPOINT")
            bare.append(sql(f"COPY bare FROM '{host}/rows'"))
    rate, limit = (count / statistics.median(seconds) for seconds in (runs, bare))
    comparison, delivery = statistics.median(comparisons), statistics.median(runs)
    peak, wire = max(collectors) / 1e6, statistics.median(wires) / count
    own, largest = (max(sizes) / 1e6 for sizes in zip(*exporters))
    return [
        Result(
            "fleet", f"{count:,} samples of {hubs} over a NATS broker and one collector, beside a bare COPY of the rows",
            ">= 100,000 samples/s, >= 50 %", "", f"{rate:,.0f} samples/s", peer=f"{limit:,.0f} rows/s", ratio=rate / limit,
            verdict=verdict(rate >= 100_000 and rate >= limit / 2), values={"seconds": runs, "peer_seconds": bare}),
        Result(
            "fleet", f"  comparing one hub's {count // len(stores):,} equal samples with the center, beside the delivery of all", "<= 5 %", "",
            f"{comparison:.3f} s, {comparison / delivery:.1%}", verdict=verdict(comparison <= 0.05 * delivery), values={"seconds": comparisons}),
        Result("fleet", "  its collector's memory at the peak", "< 150 MB", "", f"{peak:.1f} MB", verdict=verdict(peak < 150)),
        Result("fleet", "  the peak memory of each hub", "< 40 MB", "", f"{largest:.1f} MB", verdict=verdict(largest < 40)),
        Result("fleet", "  of this, memory that is in no file", "", "", f"{own:.1f} MB"),
        Result("fleet", "  sent to the broker", "", "", f"{wire:.1f} bytes/sample", values={"bytes": wires}),
        Result(
            "fleet", "  CPU time of the collector, and of PostgreSQL, for each sample", "", "",
            " and ".join(f"{statistics.median(cost[part] for cost in costs) * 1e6:.1f} µs" for part in (0, 1)), values={"seconds": costs}),
        Result(
            "fleet", "  PostgreSQL's log of changes (WAL), and the tables with their indexes", "", "",
            " and ".join(f"{statistics.median(cost[part] for cost in costs):.0f} bytes/sample" for part in (2, 3))),
    ]


def center_costs(host, collector):
    """The CPU seconds of a collector and of PostgreSQL so far, and the bytes of PostgreSQL's log and of its tables."""
    postmaster = int(pathlib.Path(f"{host}/data/postmaster.pid").read_text(encoding="ascii").split()[0])
    children = pathlib.Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text(encoding="ascii").split()
    query = "SELECT pg_current_wal_insert_lsn() - '0/0', pg_database_size('postgres')"
    sizes = subprocess.run(
        ["psql", "-qAt", "-F", " ", "-h", host, "-U", "vitalgate", "-d", "postgres", "-c", query], check=True, capture_output=True, text=True).stdout
    return [cpu_seconds([collector]), cpu_seconds([postmaster, *children]), *map(int, sizes.split())]


def cpu_seconds(processes):
    """The CPU time of some processes, without those that have ended."""
    ticks = 0
    for process in processes:
        with contextlib.suppress(OSError):
            fields = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def together(commands):
    """The seconds that some commands take at once, and the largest memory of one of them in bytes: what is in no file, and all of it."""
    start, largest = time.perf_counter(), 0
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    ends = []
    for process in processes:
        while not (end := os.wait4(process.pid, os.WNOHANG))[0]:
            largest = max(largest, *(own_memory(each.pid) for each in processes))
            time.sleep(0.01)
        ends.append(end)
    if any(status for _, status, _ in ends):
        raise SystemExit("bench: an export failed")
    return time.perf_counter() - start, (largest, max(usage.ru_maxrss for _, _, usage in ends) * 1024)


def own_memory(process):
    """The memory of a process that is in no file, in bytes. The kernel can take back the pages of programs, and processes share them."""
    with contextlib.suppress(OSError):
        lines = pathlib.Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
        return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:")), 0)
    return 0


def received(monitor):
    """The bytes of messages that a broker has received."""
    connection = http.client.HTTPConnection("127.0.0.1", monitor)
    connection.request("GET", "/varz")
    return json.load(connection.getresponse())["in_bytes"]


def peak_memory(process):
    """The largest resident memory of a running process, in bytes."""
    lines = pathlib.Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


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


def influxdb(bench):
    """Points over HTTP; beside the same lines, prepared, posted by nobody's program in as many requests."""
    count = min(bench.rows, 200_000)
    store, runs, bare = bench.fresh_store(), [], []
    bench.imported(bench.data("mixed", count), store, count)
    bodies = []
    with answering(lambda path, body: (bodies.append((path, body)) if path.startswith("/write") else None, (204, b""))[1]) as url:
        config = configured(bench, {"home": {"kind": "influxdb", "url": url, "database": "lines"}})
        measure.run([bench.vitalgate, "--store", store, "--config", config, "export", "home", "--once"], on_all_cores=True)
    with influx() as port:
        def post(path, body, headers=None):
            connection.request("POST", path, body, headers or {})
            answer = connection.getresponse()
            answer.read()
            if answer.status >= 300:
                raise SystemExit(f"bench: InfluxDB answers {answer.status}")

        connection = http.client.HTTPConnection("127.0.0.1", port)
        config = configured(bench, {"home": {"kind": "influxdb", "url": f"http://127.0.0.1:{port}", "database": "health"}})
        command = [bench.vitalgate, "--store", store, "--config", config]
        for index in range(bench.runs):
            bench.say(f"export into InfluxDB, run {index + 1} of {bench.runs}")
            for name in ("health", "lines"):
                for verb in ("DROP", "CREATE"):
                    post(f"/query?q={verb}+DATABASE+{name}", b"")
            measure.run([*command, "targets", "restart", "home"])
            runs.append(measure.run([*command, "export", "home", "--once"], on_all_cores=True))
            start = time.perf_counter()
            for path, body in bodies:
                packed = {"Content-Encoding": "gzip"} if body[:2] == b"\x1f\x8b" else None
                post(path, body, packed)
            bare.append(time.perf_counter() - start)
    rate, limit = (count / statistics.median(seconds) for seconds in ([run.seconds for run in runs], bare))
    return [
        Result(
            "influxdb", f"export of {count:,} samples into InfluxDB, beside a bare post of the lines", ">= 50 %", "",
            f"{rate:,.0f} samples/s", peer=f"{limit:,.0f} lines/s", ratio=rate / limit, verdict=verdict(rate >= limit / 2),
            values={"seconds": [run.seconds for run in runs], "peer_seconds": bare}),
        memory("influxdb", runs),
    ]


def fhir(bench):
    """Observations in transactions, to an endpoint that only says yes."""
    count = min(bench.rows, 200_000)
    store, runs = bench.fresh_store(), []
    bench.imported(bench.data("mixed", count), store, count)

    def answer(_, body):
        entry = b'{"response":{"status":"201 Created"}}'
        return 200, b'{"resourceType":"Bundle","type":"transaction-response","entry":[' + b",".join(
            [entry] * body.count(b'"request":{')) + b"]}"

    with answering(answer) as url:
        config = configured(bench, {"clinic": {"kind": "fhir", "url": url, "patient": "Patient/7"}})
        command = [bench.vitalgate, "--store", store, "--config", config]
        for index in range(bench.runs):
            bench.say(f"export as FHIR, run {index + 1} of {bench.runs}")
            measure.run([*command, "targets", "restart", "clinic"])
            runs.append(measure.run([*command, "export", "clinic", "--once"], on_all_cores=True))
    # The endpoint is a script, which takes longer than what is measured: the exporter's own time counts, for reading, encoding and posting.
    rate = count / statistics.median(run.cpu_seconds for run in runs)
    return [
        Result(
            "fhir", f"{count:,} samples read, encoded as Observations and posted, by CPU time", ">= 100,000 Observations/s", "",
            f"{rate:,.0f} Observations/s", verdict=verdict(rate >= 100_000),
            values={"seconds": [run.seconds for run in runs], "cpu_seconds": [run.cpu_seconds for run in runs]}),
        memory("fhir", runs),
    ]


def arrival(bench):
    """From the start of a command that stores one reading until its line is in the target, whose exporter is asleep."""
    store, folder = bench.fresh_store(), bench.scratch / "arrival"
    row = "time,type,value,unit\n2026-01-01T00:00:{:02}.{:03}Z,heartRate,60,/min\n"
    reading, seconds = bench.scratch / "reading.csv", []
    config = configured(bench, {"archive": {"kind": "files", "folder": str(folder), "daily": False}})
    command = [bench.vitalgate, "--store", store, "--config", config]
    lines = folder / "archive.ndjson"
    reading.write_text(row.format(0, 0), encoding="utf-8")
    subprocess.run([*command, "import", reading], check=True, stdout=subprocess.DEVNULL)
    with subprocess.Popen([*command, "export", "archive"], stderr=subprocess.DEVNULL) as process:
        size = 0
        for index in range(1, 301):
            while True:
                with contextlib.suppress(FileNotFoundError):
                    if lines.stat().st_size > size:
                        break
                time.sleep(0.0005)
            if index > 1:
                seconds.append(time.perf_counter() - start)
            size = lines.stat().st_size
            reading.write_text(row.format(index // 60, index), encoding="utf-8")
            start = time.perf_counter()
            subprocess.run([*command, "import", reading], check=True, stdout=subprocess.DEVNULL)
        process.terminate()
    seconds.sort()
    late = seconds[int(len(seconds) * 0.99)]
    return [
        Result(
            "arrival", "from a command that stores a reading to its line in a file, of 299 (half; of 100 the last)", "< 0.5 s", "",
            f"{statistics.median(seconds) * 1000:.0f} ms; {late * 1000:.0f} ms", verdict=verdict(late < 0.5), values={"seconds": seconds})
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
def answering(answer):
    """An endpoint over HTTP that takes what it is posted; `answer` is given a path and a body, and gives a status and a body."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Else the second half of each answer waits for the first one's acknowledgement.
        disable_nagle_algorithm = True

        def respond(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, octets = answer(self.path, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(octets)))
            self.end_headers()
            self.wfile.write(octets)

        do_GET = do_POST = respond

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def influx():
    """Debian's InfluxDB in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free, socket.socket() as other:
        for each in (free, other):
            each.bind(("127.0.0.1", 0))
        port, spare = free.getsockname()[1], other.getsockname()[1]
        pathlib.Path(folder, "influxdb.conf").write_text(
            f"""reporting-disabled = true
bind-address = "127.0.0.1:{spare}"
[meta]
  dir = "{folder}/meta"
[data]
  dir = "{folder}/data"
  wal-dir = "{folder}/wal"
  series-id-set-cache-size = 0
[http]
  bind-address = "127.0.0.1:{port}"
  log-enabled = false
[monitor]
  store-enabled = false
""", encoding="utf-8")
        free.close()
        other.close()
        process = subprocess.Popen(
            ["/usr/bin/influxd", "-config", f"{folder}/influxdb.conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while True:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.1)
            yield port
        finally:
            process.terminate()
            process.wait()


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
def nats():
    """Debian's nats-server on a free port of this machine, and its port for statistics."""
    with socket.socket() as free, socket.socket() as other:
        for each in (free, other):
            each.bind(("127.0.0.1", 0))
        port, monitor = free.getsockname()[1], other.getsockname()[1]
    process = subprocess.Popen(
        ["/usr/sbin/nats-server", "-a", "127.0.0.1", "-p", str(port), "-m", str(monitor)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield port, monitor
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
