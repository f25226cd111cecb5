"""Measures Vitalgate beside its peers and prints one table. Started by scripts/bench, which builds and installs."""

import argparse
import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys

import analyst_rows
import api_rows
import export_rows
import feed_rows
import fleet_memory_rows
import fleet_rows
import library_rows
import live_rows
import measure
import page_rows
import pairs
import profile_rows
import stats_rows
import view_rows
import units
from result import Result, verdict

ROWS = [
    "csv", "again", "paths", "pairs", "apple", "zip", "whole", "resources", "decode", "size", "stats", "days", "anew", "merged", "readers", "library", "open", "lines", "feed", "profiles", "page", "views", "api", "files", "postgresql", "fleet", "fleet-latency", "fleet-memory", "analysts", "influxdb", "mqtt", "fhir", "arrival", "repair", "units",
    "flood", "crowd", "wear", "heard", "latency",
]
HERE = pathlib.Path(__file__).resolve().parent
PEER_RECORDS = 100_000
HEART_RATE_FRAME = "16480C03"
DAYS_IN_SQL = """SELECT start/86400000000, avg(value), min(value), max(value), count(*) FROM sample
    WHERE series=(SELECT id FROM series WHERE type='heartRate') GROUP BY 1"""
PEER_TABLE = "CREATE TABLE r(time TEXT, type TEXT, value REAL, unit TEXT, PRIMARY KEY(type,time,value)) WITHOUT ROWID"


def seconds_of(runs):
    return statistics.median(run.seconds for run in runs)


def work_of(runs):
    return statistics.median(run.cpu_seconds for run in runs)


def times(ours, peer=()):
    """Every run, for the JSON: by the wall, and what of it was work rather than waiting for the disk."""
    values = {"seconds": [run.seconds for run in ours], "cpu_seconds": [run.cpu_seconds for run in ours]}
    if peer:
        values |= {"peer_seconds": [run.seconds for run in peer], "peer_cpu_seconds": [run.cpu_seconds for run in peer]}
    return values


def thousands(number):
    return f"{number:,.0f}"


class Bench:
    def __init__(self, options):
        self.vitalgate, self.healthkit = options.vitalgate.resolve(), options.healthkit_to_sqlite
        # The peers' own Python: a path that follows no links, or its packages are not found.
        self.python = pathlib.Path(options.healthkit_to_sqlite).absolute().parent / "python"
        self.runs, self.folder = options.runs, options.folder
        scale = 10 if options.quick else 1
        self.addresses = 1_000_000 // scale
        self.frames, self.watched = 400_000 // scale, 60 // (2 if options.quick else 1)
        self.worn = 3600 // (6 if options.quick else 1)
        self.rows, self.records, self.samples = 1_000_000 // scale, 1_000_000 // scale, 10_000_000 // scale
        self.scratch = self.folder / "scratch"
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)

    # What is measured on.

    def data(self, kind, count, day=""):
        """A generated file, kept until the generator changes."""
        generator = HERE / "generate.py"
        version = hashlib.sha256(generator.read_bytes() + (HERE / "whole.py").read_bytes()).hexdigest()[:8]
        suffix = {"apple": "xml", "zip": "zip", "whole": "zip", "resources": "ndjson"}.get(kind, "csv")
        path = self.folder / f"{kind}-{count}-{day}{version}.{suffix}"
        if not path.exists():
            for old in self.folder.glob(f"{kind}-{count}-*"):
                old.unlink()
            self.say(f"generating {path.name}")
            draft = path.with_suffix(".draft")
            subprocess.run([sys.executable, generator, kind, str(count), draft], check=True)
            draft.rename(path)
        return path

    def year_store(self):
        """The store of the query rows, kept until the program changes."""
        version = hashlib.sha256(self.vitalgate.read_bytes()).hexdigest()[:8]
        store = self.folder / f"year-{self.samples}-{version}.vitalgate"
        if not store.exists():
            for old in self.folder.glob("year-*.vitalgate*"):
                old.unlink()
            self.say(f"importing {thousands(self.samples)} samples")
            draft = self.fresh_store()
            self.imported(self.data("year", self.samples), draft, self.samples)
            self.checkpoint(draft)
            draft.rename(store)
        return store

    def span_store(self):
        """Twenty series over five years, one of them at 1 Hz; kept until the program changes."""
        return self.store_of("span")

    def recent_store(self):
        """The same, moved so that its last day is today."""
        return self.store_of("recent", datetime.date.today().isoformat() + "-")

    def store_of(self, kind, day=""):
        version = hashlib.sha256(self.vitalgate.read_bytes()).hexdigest()[:8]
        store = self.folder / f"{kind}-{self.samples}-{day}{version}.vitalgate"
        if not store.exists():
            for old in self.folder.glob(f"{kind}-*.vitalgate*"):
                old.unlink()
            file = self.data(kind, self.samples, day)
            self.say(f"importing {thousands(self.samples)} samples of twenty series")
            draft = self.fresh_store()
            command = [self.vitalgate, "import", file, "--store", draft, "--exact", "--format", "ndjson"]
            account = json.loads(measure.run([*command, "--time-zone", "UTC"], on_all_cores=True).output.splitlines()[-1])
            if account["stored"] != self.samples:
                raise SystemExit(f"bench: the account is {account}")
            self.checkpoint(draft)
            draft.rename(store)
        return store

    def copied(self, store):
        """A copy that may be written to."""
        copy = self.fresh_store()
        shutil.copyfile(store, copy)
        return copy

    def fresh_store(self):
        for old in self.scratch.glob("*"):
            old.unlink()
        return self.scratch / "store.vitalgate"

    # What is run.

    def imported(self, file, store, expected, again=False):
        """Imports a file, and holds the account to what was generated."""
        # It reads on one core and writes on another.
        run = measure.run(
            [self.vitalgate, "import", file, "--store", store, "--format", "ndjson", "--time-zone", "UTC"], on_all_cores=True)
        account = json.loads(run.output.splitlines()[-1])
        wanted = {"read": expected, "stored": 0 if again else expected, "duplicate": expected if again else 0}
        if any(account[name] != count for name, count in wanted.items()):
            raise SystemExit(f"bench: {file.name}: the account is {account}, not {wanted}")
        return run

    def sqlite(self, database, *statements):
        return measure.run(["sqlite3", "-batch", database, *statements])

    def checkpoint(self, store):
        self.sqlite(store, "PRAGMA wal_checkpoint(TRUNCATE)")

    # The rows.

    def csv(self, wanted):
        """The first three rows share their runs: a file, the same again, what it takes on disk."""
        file = self.data("mixed", self.rows)
        first, again, peer, sizes = [], [], [], []
        for index in range(self.runs):
            self.say(f"CSV, run {index + 1} of {self.runs}")
            database = self.fresh_store().with_suffix(".sqlite")
            peer.append(self.sqlite(database, PEER_TABLE, f".import --csv --skip 1 '{file}' r"))
            store = self.fresh_store()
            first.append(self.imported(file, store, self.rows))
            again.append(self.imported(file, store, self.rows, again=True))
            self.checkpoint(store)
            sizes.append(store.stat().st_size / self.rows)
        rate, rate_again, rate_peer = (self.rows / seconds_of(runs) for runs in (first, again, peer))
        ratio, ratio_again, size = rate / rate_peer, rate_again / rate, statistics.median(sizes)
        results = [
            Result(
                "csv", f"CSV of {thousands(self.rows)} rows: parse to durable, deduplicated", "1.2x sqlite3 .import", "0.8x",
                f"{thousands(rate)} rows/s", f"{thousands(rate_peer)} rows/s", ratio,
                work_of(peer) / work_of(first), verdict(ratio >= 1.2, ratio >= 0.8), times(first, peer)),
            Result(
                "again", "the same file again: all duplicates", "2x the first time", "", f"{thousands(rate_again)} rows/s",
                f"{thousands(rate)} rows/s", ratio_again, work_of(first) / work_of(again), verdict(ratio_again >= 2),
                times(again)),
            Result(
                "size", "bytes on disk a sample", "<= 45", "", f"{size:.1f}", verdict=verdict(size <= 45),
                values={"bytes_a_sample": size}),
        ]
        return [result for result in results if result.row in wanted]

    def apple(self, kind):
        """An export, a cut of it for the peer, and a tenth of it for the memory at two sizes."""
        tenth = self.records // 10
        whole, cut, small = (self.data(kind, count) for count in (self.records, PEER_RECORDS, tenth))
        ours, ours_small, peer = [], [], []
        for index in range(self.runs):
            self.say(f"Apple Health {kind}, run {index + 1} of {self.runs}")
            database = self.fresh_store().with_suffix(".sqlite")
            peer.append(measure.run([self.healthkit, cut, database, *(["--xml"] if kind == "apple" else []), "--silent"]))
            ours_small.append(self.imported(small, self.fresh_store(), tenth))
            ours.append(self.imported(whole, self.fresh_store(), self.records))
        rate, rate_peer = self.records / seconds_of(ours), PEER_RECORDS / seconds_of(peer)
        ratio = rate / rate_peer
        peak, peak_small = (max(run.peak_bytes for run in runs) for runs in (ours, ours_small))
        form = {"apple": "export.xml", "zip": "export.zip"}[kind]
        return [
            Result(
                kind, f"Apple Health {form}, {thousands(self.records)} records (peer: {thousands(PEER_RECORDS)})",
                "12x healthkit-to-sqlite", "6x", f"{thousands(rate)} records/s", f"{thousands(rate_peer)} records/s", ratio,
                (self.records / work_of(ours)) / (PEER_RECORDS / work_of(peer)), verdict(ratio >= 12, ratio >= 6),
                times(ours, peer)),
            Result(
                kind, f"  its peak memory (with {thousands(tenth)} records: {peak_small / (1 << 20):.1f} MB)",
                "< 64 MB", "", f"{peak / (1 << 20):.1f} MB", f"{max(run.peak_bytes for run in peer) / (1 << 20):.1f} MB",
                verdict=verdict(peak < 64 << 20), values={"peak_bytes": peak, "peak_bytes_of_a_tenth": peak_small}),
        ]

    def whole(self):
        """A whole export, beside its quantity records alone."""
        records = self.records
        alone, whole = self.data("zip", records), self.data("whole", records)
        categories, workouts, resources = records // 10, records // 50, records // 500
        points = workouts * 1000
        expected = records + categories + 2 * workouts + resources
        ours, peer = [], []
        for index in range(self.runs):
            self.say(f"whole export, run {index + 1} of {self.runs}")
            peer.append(self.imported(alone, self.fresh_store(), records))
            ours.append(self.imported(whole, self.fresh_store(), expected))
        seconds, seconds_alone, peak = seconds_of(ours), seconds_of(peer), max(run.peak_bytes for run in ours)
        target = 1.3 * seconds_alone + points / 1_000_000
        return [
            Result(
                "whole",
                f"whole export.zip: {thousands(records)} records, {thousands(categories)} categories, {thousands(workouts)} workouts with "
                f"{thousands(points)} points, {thousands(resources)} resources (peer: its records alone)",
                "<= 1.3x the time and 1 s a million points", "", f"{seconds:.1f} s", f"{seconds_alone:.1f} s", target / seconds,
                verdict=verdict(seconds <= target), values=times(ours, peer)),
            Result(
                "whole", "  its peak memory", "< 64 MB", "", f"{peak / (1 << 20):.1f} MB", verdict=verdict(peak < 64 << 20),
                values={"peak_bytes": peak}),
        ]

    def resources(self):
        """FHIR Observations, beside what Python's parser alone takes for the same lines."""
        count = self.records // 10
        file = self.data("resources", count)
        parse = "import json,sys\nfor line in open(sys.argv[1]): json.loads(line)"
        ours, peer = [], []
        for index in range(self.runs):
            self.say(f"FHIR resources, run {index + 1} of {self.runs}")
            peer.append(measure.run([sys.executable, "-c", parse, file]))
            ours.append(self.imported(file, self.fresh_store(), count))
        rate, rate_peer = count / seconds_of(ours), count / seconds_of(peer)
        peak = max(run.peak_bytes for run in ours)
        return [
            Result(
                "resources", f"FHIR R4 Observations in NDJSON, {thousands(count)} (peer: json.loads)", ">= 30,000/s", "",
                f"{thousands(rate)} resources/s", f"{thousands(rate_peer)} resources/s", rate / rate_peer,
                (count / work_of(ours)) / (count / work_of(peer)), verdict(rate >= 30_000), times(ours, peer)),
            Result(
                "resources", "  its peak memory", "< 64 MB", "", f"{peak / (1 << 20):.1f} MB",
                verdict=verdict(peak < 64 << 20), values={"peak_bytes": peak}),
        ]

    def paths(self):
        """A second path of what is stored: what its import costs with and without comparing the two."""
        count = self.rows // 2
        files = [self.data(kind, count) for kind in ("first-path", "second-path", "other-path")]
        compared, exact = {"second-path": [], "other-path": []}, {"second-path": [], "other-path": []}
        for index in range(self.runs):
            self.say(f"two paths, run {index + 1} of {self.runs}")
            for file, name in zip(files[1:], compared):
                for runs, options in ((compared, []), (exact, ["--exact"])):
                    store = self.fresh_store()
                    self.imported(files[0], store, count)
                    command = [self.vitalgate, "import", file, "--store", store, "--format", "ndjson", "--time-zone", "UTC"]
                    runs[name].append(measure.run(command + options))
        results = []
        for name, what in (("other-path", "of other readings"), ("second-path", "of the same readings: all duplicates")):
            rate, rate_exact = (count / work_of(runs[name]) for runs in (compared, exact))
            results.append(
                Result(
                    "paths", f"import of a second path {what}, by CPU time (peer: --exact)", "0.7x", "",
                    f"{thousands(rate)} rows/s", f"{thousands(rate_exact)} rows/s", rate / rate_exact, rate / rate_exact,
                    verdict(rate / rate_exact >= 0.7), times(compared[name], exact[name])))
        return results

    def pairs(self):
        """The labelled pairs of pairs.py through the program: how many it takes for one that are, and that are not."""
        count = 5000
        one, other = self.scratch / "one.csv", self.scratch / "other.csv"
        store = self.fresh_store()
        truth = pairs.write(count, 20261120, one, other)
        self.imported(one, store, count)
        measure.run([self.vitalgate, "import", other, "--store", store, "--time-zone", "UTC"])
        found = [0] * count
        for line in measure.run([self.vitalgate, "query", "all", "--store", store, "--format", "ndjson"]).output.splitlines():
            found[pairs.day_of(json.loads(line)["start"])] += 1
        taken = [samples == 1 for samples in found]
        right = sum(is_one and is_taken for is_one, is_taken in zip(truth, taken))
        precision, recall = right / sum(taken), right / sum(truth)
        return [
            Result(
                "pairs", f"{thousands(count)} labelled pairs over two paths: precision and recall", ">= 0.995 both", "",
                f"{precision:.4f} and {recall:.4f}", verdict=verdict(min(precision, recall) >= 0.995),
                values={"precision": precision, "recall": recall})
        ]

    def decode(self):
        frames = 2_000_000
        ours, readings, peer = [], [], []
        for index in range(self.runs):
            self.say(f"decode, run {index + 1} of {self.runs}")
            line = measure.run([self.vitalgate, "decode", "2A37", HEART_RATE_FRAME, "--times", frames]).output
            answer = json.loads(line)
            ours.append(answer["nanosecondsToDecode"] / 1000)
            readings.append(answer["nanosecondsToReadings"] / 1000)
            peer.append(float(measure.run([self.python, HERE / "decode_peer.py", HEART_RATE_FRAME, 5000]).output))
        time, time_peer = statistics.median(ours), statistics.median(peer)
        return [
            Result(
                "decode", "decode a heart-rate frame with an RR interval through its profile (peer: bluetooth-sig)", "< 1 µs", "",
                f"{time:.3f} µs ({statistics.median(readings):.3f} µs with its two readings)", f"{time_peer:.1f} µs", time_peer / time,
                verdict=verdict(time < 1), values={"microseconds": ours, "microseconds_readings": readings, "peer": peer})
        ]

    def stats(self):
        store = self.year_store()
        ours_command = [self.vitalgate, "stats", "heartRate", "--every", "1d", "--time-zone", "UTC", "--format", "csv"]
        ours_command += ["--store", store]
        self.same_days(measure.run(ours_command).output, self.sqlite(store, DAYS_IN_SQL).output)
        ours, peer = [], []
        for index in range(self.runs):
            self.say(f"daily statistics, run {index + 1} of {self.runs}")
            peer.append(self.sqlite(store, DAYS_IN_SQL))
            ours.append(measure.run(ours_command))
        seconds, seconds_peer = seconds_of(ours), seconds_of(peer)
        ratio = seconds_peer / seconds
        return [
            Result(
                "stats", f"daily statistics of a year, {thousands(self.samples)} samples", "4x plain SQL", "",
                f"{seconds:.3f} s", f"{seconds_peer:.3f} s", ratio, work_of(peer) / work_of(ours),
                verdict(ratio >= 4), times(ours, peer))
        ]

    def same_days(self, ours, peer):
        """Both count the same samples on the same number of days, or the comparison says nothing."""
        header, *lines = [line.split(",") for line in ours.splitlines()]
        counts = [int(line[header.index("count")]) for line in lines]
        counts_peer = [int(line.split("|")[-1]) for line in peer.splitlines()]
        if counts != counts_peer or sum(counts) != self.samples:
            raise SystemExit(f"bench: the days differ: {sum(counts)} samples on {len(counts)} days, SQL: {sum(counts_peer)}")

    def open(self):
        store = self.year_store()
        command = [self.vitalgate, "query", "heartRate", "--limit", "1", "--store", store]
        measure.run(command)
        runs = [measure.run(command) for _ in range(30)]
        p50 = seconds_of(runs) * 1000
        return [
            Result(
                "open", f"open the store of {thousands(self.samples)}, first answer (p50 of 30)", "< 30 ms", "",
                f"{p50:.1f} ms", verdict=verdict(p50 < 30), values=times(runs))
        ]

    def lines(self):
        """Samples as lines of NDJSON, what programs and exporters read."""
        store, count = self.year_store(), min(self.samples, 200_000)
        command = [self.vitalgate, "query", "heartRate", "--limit", count, "--format", "ndjson", "--store", store]
        runs = [measure.run(command) for _ in range(self.runs)]
        if any(run.output.count("\n") != count for run in runs):
            raise SystemExit(f"bench: query does not print {count} lines")
        rate = count / work_of(runs)
        return [
            Result(
                "lines", f"query of {thousands(count)} samples as NDJSON, by CPU time", ">= 300,000 rows/s", "",
                f"{thousands(rate)} rows/s", verdict=verdict(rate >= 300_000), values=times(runs))
        ]

    def repair(self):
        """Temperatures in °F that were taken for °C: all of them repaired, and taken back."""
        file = self.scratch.parent / f"fahrenheit-{self.rows}.csv"
        if not file.exists():
            with open(file, "w", encoding="utf-8") as table:
                table.write("time,type,value,unit\n")
                for index in range(self.rows):
                    day, minute = divmod(index, 1440)
                    date = datetime.date(2020, 1, 1) + datetime.timedelta(days=day)
                    time = f"{date}T{minute // 60:02}:{minute % 60:02}:00Z"
                    table.write(f"{time},bodyTemperature,{97 + index * 7 % 25 / 10:.1f},Cel\n")
        applied, undone = [], []
        for index in range(self.runs):
            self.say(f"repair, run {index + 1} of {self.runs}")
            store = self.fresh_store()
            self.imported(file, store, self.rows)
            command = [self.vitalgate, "repair", "apply", "--type", "bodyTemperature", "--read-as", "[degF]"]
            run = measure.run([*command, "--format", "ndjson", "--store", store])
            if json.loads(run.output)["repaired"] != self.rows:
                raise SystemExit(f"bench: the repair found {run.output}")
            applied.append(run)
            undone.append(measure.run([self.vitalgate, "repair", "undo", "1", "--store", store]))
        seconds, peak = seconds_of(applied), max(run.peak_bytes for run in applied + undone)
        return [
            Result(
                "repair", f"repair of {thousands(self.rows)} samples, durable (and its undoing)", "< 20 s a million", "",
                f"{seconds:.1f} s ({seconds_of(undone):.1f} s)", verdict=verdict(seconds < 20 * self.rows / 1_000_000),
                values=times(applied) | {"undo_seconds": [run.seconds for run in undone]}),
            Result(
                "repair", "  its peak memory", "< 64 MB", "", f"{peak / (1 << 20):.1f} MB", verdict=verdict(peak < 64 << 20),
                values={"peak_bytes": peak}),
        ]

    def units(self):
        """The labelled series of units.py through the program: alarms over the clean ones, wrong intervals found."""
        count = 400 * self.rows // 100_000
        file, labels = self.scratch.parent / f"units-{count}.csv", self.scratch.parent / f"units-{count}.ndjson"
        self.say(f"{thousands(count)} labelled series")
        units.write(count, file, labels)
        store = self.fresh_store()
        measure.run([self.vitalgate, "import", file, "--store", store, "--time-zone", "UTC"])
        answer = measure.run([self.vitalgate, "repair", "suggest", "--store", store, "--format", "ndjson"])
        alarms, clean, found, wrong = units.score(
            [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()],
            [json.loads(line) for line in answer.output.splitlines()])
        return [
            Result(
                "units", f"wrong units in {thousands(count)} labeled series: false alarms, intervals found", "< 0.1 %, >= 95 %", "",
                f"{alarms} of {thousands(clean)}, {found / wrong:.1%}",
                verdict=verdict(alarms < clean / 1000 and found / wrong >= 0.95),
                values={"alarms": alarms, "clean": clean, "found": found, "wrong": wrong})
        ]

    def measure(self, wanted):
        """The results of the rows asked for, and the rows that failed: one that fails costs no other its numbers."""
        results, failed = [], []

        def add(rows, measured):
            rows = [row for row in rows if row in wanted]
            if not rows:
                return
            try:
                results.extend(measured())
            except (Exception, SystemExit) as error:  # pylint: disable=broad-exception-caught
                self.say(f"{', '.join(rows)}: {error}")
                failed.extend(rows)

        add(("csv", "again", "size"), lambda: self.csv(wanted))
        for kind in ("apple", "zip"):
            add((kind,), lambda kind=kind: self.apple(kind))
        for row in ("whole", "resources", "paths", "pairs", "decode", "stats", "open", "lines", "repair", "units"):
            add((row,), getattr(self, row))
        for row in ("days", "anew", "merged", "readers"):
            add((row,), lambda row=row: getattr(stats_rows, row)(self))
        add(("library",), lambda: library_rows.library(self))
        add(("feed",), lambda: feed_rows.feed(self))
        add(("profiles",), lambda: profile_rows.profiles(self))
        add(("page",), lambda: page_rows.page(self))
        add(("views",), lambda: view_rows.views(self))
        add(("api",), lambda: api_rows.api(self))
        for row in ("files", "postgresql", "fleet", "influxdb", "mqtt", "fhir", "arrival"):
            add((row,), lambda row=row: getattr(export_rows, row)(self))
        add(("fleet-latency",), lambda: fleet_rows.fleet_latency(self))
        add(("fleet-memory",), lambda: fleet_memory_rows.fleet_memory(self))
        add(("analysts",), lambda: analyst_rows.analysts(self))
        for row in ("flood", "crowd", "wear", "heard", "latency"):
            add((row,), lambda row=row: getattr(live_rows, row)(self))
        shutil.rmtree(self.scratch, ignore_errors=True)
        return sorted(results, key=lambda result: ROWS.index(result.row)), failed

    def say(self, text):
        print(f"bench: {text}", file=sys.stderr, flush=True)


def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    facts = {}
    for line in lines:
        name, _, value = line.partition(":")
        facts.setdefault(name.strip(), value.strip())
    return facts.get("model name") or facts.get("Model") or platform.machine()


def machine(options):
    pip = options.healthkit_to_sqlite.parent / "pip"
    return {
        "processor": f"{processor()}, {os.cpu_count()} cores, one used but by imports" if measure.pinned() else processor(),
        "kernel": platform.release(),
        "system": first_line(["sh", "-c", ". /etc/os-release && echo $PRETTY_NAME"]),
        "file system": first_line(["stat", "--file-system", "--format=%T", str(options.folder)]),
        "swift": first_line(["swift", "--version"]),
        "sqlite3": first_line(["sqlite3", "--version"]).split(" ")[0],
        "healthkit-to-sqlite": first_line(["sh", "-c", f"'{pip}' freeze | grep ^healthkit-to-sqlite="]).partition("==")[2],
        "runs": f"median of {options.runs}",
    }


def table(results):
    lines = [["what", "to reach", "floor", "measured", "peer, same run", "ratio", "by CPU time", ""]]
    for result in results:
        ratios = [f"{ratio:.2f}x" if ratio is not None else "" for ratio in (result.ratio, result.ratio_by_work)]
        lines.append([result.what, result.target, result.floor, result.measured, result.peer, *ratios, result.verdict])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the data")
    parser.add_argument("--only", action="append", choices=ROWS, metavar="ROW", help=f"one of {', '.join(ROWS)}")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, of which the median counts (5)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the results here too, with every run")
    parser.add_argument("--vitalgate", type=pathlib.Path, metavar="BINARY", help="measure this program, and build none")
    parser.add_argument("--healthkit-to-sqlite", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    facts = machine(options)
    results, failed = Bench(options).measure(options.only or ROWS)
    print("\n".join(f"{name}: {value}" for name, value in facts.items()), end="\n\n")
    print(table(results))
    if options.json:
        document = {"machine": facts, "results": [dataclasses.asdict(result) for result in results]}
        options.json.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    if failed:
        raise SystemExit(f"bench: not measured: {', '.join(failed)}")


if __name__ == "__main__":
    main()
