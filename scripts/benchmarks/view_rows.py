"""The rows of the page's views: how long each view of a large store takes, from the request to its last byte."""

import contextlib
import datetime
import http.client
import json
import pathlib
import shutil
import socket
import sqlite3
import statistics
import subprocess
import tempfile
import time
import urllib.parse

from result import Result, verdict

LIMIT = 300
RUNS = 5


class PageServer:
    """A hub that serves the page of a copy of a store, and a session of the store's person."""

    def __init__(self, program, store):
        self.program = str(program)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="vitalgate-views-"))
        self.store = self.folder / "hub.vitalgate"
        shutil.copyfile(store, self.store)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        (self.folder / "config.json5").write_text(f'{{ api: {{ listen: "127.0.0.1:{self.port}" }}, timeZone: "Europe/Berlin" }}')
        with open(self.folder / "hub.log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.words("run"), stderr=log, start_new_session=True)
        self.cookies = ""

    def words(self, *words):
        return [self.program, "--store", str(self.store), "--config", str(self.folder / "config.json5"), *words]

    def log_in(self):
        end = time.monotonic() + 60
        while "listening at" not in (self.folder / "hub.log").read_text():
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit("bench: the hub does not listen: " + (self.folder / "hub.log").read_text()[-2000:])
            time.sleep(0.05)
        link = subprocess.run(self.words("page", "open"), check=True, capture_output=True, text=True).stdout.strip()
        code = urllib.parse.parse_qs(urllib.parse.urlparse(link).fragment)["code"][0]
        origin = f"http://127.0.0.1:{self.port}"
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"}
            connection.request("POST", "/page/login", urllib.parse.urlencode({"code": code}), headers)
            answer = connection.getresponse()
            if answer.status != 303:
                raise SystemExit(f"bench: the login answered {answer.status}")
            self.cookies = answer.headers["Set-Cookie"].split(";")[0]

    def wait_for_summaries(self):
        """The hub sums dense series up in the background, once after an import."""
        known, since = 0, time.monotonic()
        while time.monotonic() - since < (5 if known else 30):
            with contextlib.closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as database:
                count = database.execute("SELECT count(*) FROM summary").fetchone()[0]
            if count != known:
                known, since = count, time.monotonic()
            time.sleep(1)

    def milliseconds(self, path):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)) as connection:
            begin = time.monotonic()
            connection.request("GET", path, headers={"Cookie": self.cookies, "Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"bench: {path} answered {answer.status}")
            return (time.monotonic() - begin) * 1000

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        shutil.rmtree(self.folder, ignore_errors=True)


TYPES = ["heartRate", "stepCount", "bloodGlucose", "bodyMass"]


def paths():
    """The views that read samples, with every range of the chart and of the table. The samples end today."""
    now = int(time.time())
    today = datetime.date.today()
    views = ["", "data/today", "care", "devices", "files", "clients", "targets", "deleted", "notes", "goals", "alerts", "people", "characteristics"]
    for days in [30, 365]:
        chosen = "".join(f"&type={name}" for name in TYPES)
        views.append(f"report?from={today - datetime.timedelta(days=days)}&until={today}{chosen}")
    for name in TYPES:
        views += [f"type/{name}?range={range_name}" for range_name in ["day", "week", "month", "half", "year", "all"]]
        for days in [1, 7, 31, 365, 3650]:
            frame = f"from={(now - days * 86_400) * 1000}&to={now * 1000}&width=800"
            views += [f"data/series?types={name}&{frame}{more}" for more in ["", "&previous=yes", "&sources=yes"]]
            views.append(f"data/events?types={name}&{frame}")
    return ["/page/" + view for view in views]


def views(bench):
    """The first answer of each view after the start of a hub, and the median of five."""
    store = bench.recent_store()
    bench.say("the page's views")
    server = PageServer(bench.vitalgate, store)
    with contextlib.closing(server):
        server.log_in()
        server.wait_for_summaries()
        first, again = {}, {}
        for path in paths():
            first[path] = server.milliseconds(path)
            again[path] = statistics.median(server.milliseconds(path) for _ in range(RUNS))
    slowest_first, slowest = max(first, key=first.get), max(again, key=again.get)
    return [
        Result(
            "views", f"the slowest of the page's {len(again)} views, {bench.samples:,} samples (p50 of {RUNS}): {slowest}",
            f"< {LIMIT} ms", "", f"{again[slowest]:.0f} ms", verdict=verdict(again[slowest] < LIMIT), values={"milliseconds": again}),
        Result(
            "views", f"the same, the first answer after the start of the hub: {slowest_first}", f"< {LIMIT} ms", "",
            f"{first[slowest_first]:.0f} ms", verdict=verdict(first[slowest_first] < LIMIT), values={"milliseconds": first}),
    ]


if __name__ == "__main__":
    import sys

    tried = PageServer(sys.argv[1], sys.argv[2])
    with contextlib.closing(tried):
        tried.log_in()
        tried.wait_for_summaries()
        for view in paths():
            print(json.dumps([round(tried.milliseconds(view)) for _ in range(3)]), view, flush=True)
