"""Starts a hub over a small store, has schemathesis ask it, and tries each client's token on what is another's. Started by scripts/check-api."""

import argparse
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ANNA = "0b5ac2bd-2b5f-4b53-9a3f-6f1f57a50d2e"
LEAST_CASES = 1000


class Hub:
    """A hub without sensors, in a folder that goes with it."""

    def __init__(self, program):
        self.program = str(pathlib.Path(program).resolve())
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="vitalgate-api-"))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        (self.folder / "config.json5").write_text(f'{{ api: {{ listen: "127.0.0.1:{self.port}" }}, timeZone: "Europe/Berlin" }}')
        self.log = self.folder / "hub.log"
        self.process = None

    def run(self, *words, text=None):
        ran = subprocess.run(self.words(*words), capture_output=True, text=True, input=text, cwd=ROOT, check=False)
        if ran.returncode != 0:
            raise SystemExit(f"check-api: {words}: {ran.returncode}: {ran.stderr}")
        return ran.stdout

    def words(self, *words):
        return [self.program, "--store", str(self.folder / "hub.vitalgate"), "--config", str(self.folder / "config.json5"),
                "--profiles", str(ROOT / "DeviceProfiles"), *words]

    def start(self):
        (self.folder / "inbox").mkdir()
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.words("run", "--inbox", str(self.folder / "inbox")), stderr=log, start_new_session=True)
        end = time.monotonic() + 30
        while "listening at" not in self.log.read_text(encoding="utf-8"):
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"check-api: the hub does not listen: {self.log.read_text(encoding='utf-8')}")
            time.sleep(0.05)

    def ask(self, method, path, token):
        """Status, what the answer is, and its octets."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        with contextlib.closing(connection):
            connection.request(method, path, headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            return answer.status, answer.headers.get("Content-Type"), answer.read()

    def lines(self, path, token):
        status, _, octets = self.ask("GET", path, token)
        if status != 200:
            raise SystemExit(f"check-api: {path}: {status}: {octets!r}")
        return [json.loads(line) for line in octets.splitlines()]

    def end(self):
        """The hub ends well, and told nothing of what it was asked."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        log = self.log.read_text(encoding="utf-8")
        if code != 0:
            raise SystemExit(f"check-api: the hub ended with {code}: {log[-2000:]}")
        if len(log) > 4000 or "/v1/" in log:
            raise SystemExit(f"check-api: the hub's log tells what it was asked: {log[-2000:]}")


def fill(hub):
    """Two persons, what each kind of sample is, and three clients: their tokens by name."""
    hub.run("import", *[f"Examples/{name}" for name in ["heart-rate.csv", "steps.csv", "withings-weight.csv", "apple-health-export.xml"]],
            "--time-zone", "Europe/Berlin")
    page = (ROOT / "docs/reference/ndjson.md").read_text(encoding="utf-8")
    hub.run("import", "-", text=page.split("```ndjson hand.ndjson\n")[1].split("```")[0])
    hub.run("characteristics", "set", "bloodType", "O-")
    hub.run("people", "add", "Anna", "--id", ANNA)
    rows = "".join(f"2026-10-{day:02}T07:00:00Z,bodyMass,6{day % 10}.5,kg\n" for day in range(1, 28))
    hub.run("import", "-", "--person", "Anna", text="time,type,value,unit\n" + rows)
    tokens = {}
    for name, purpose in [("charts", "Draws charts"), ("stranger", "Was granted nothing")]:
        tokens[name] = hub.run("clients", "add", name, "--purpose", purpose).strip()
    # A phone, since some requests are only for phones.
    tokens["diary"] = re.search(r"Bearer (\S+)", hub.run("phones", "add", "diary", "--app", "hc-webhook")).group(1)
    hub.run("clients", "grant", "charts", "--read", "heartRate,stepCount,sleepAnalysis,workout,stateOfMind,activitySummary,bloodType,bloodPressure",
            "--write", "bodyMass,dietaryWater,headache")
    hub.run("clients", "grant", "charts", "--read", "immunizationRecord,cda", "--future")
    # Clinical ones that come later.
    hub.run("import", "-", text=(ROOT / "Examples/immunization-checklist/records.ndjson").read_text(encoding="utf-8"))
    hub.run("import", "Examples/documents/chart.xml")
    hub.run("clients", "grant", "diary", "--read", "heartRate,stepCount", "--write", "bodyMass,dietaryWater")
    hub.run("clients", "grant", "diary", "--read", "bodyMass", "--write", "bodyMass", "--person", "Anna")
    return tokens


def schemathesis(hub, tokens, report):
    clients = hub.folder / "clients.json"
    clients.write_text(json.dumps({"auth": [
        {"name": name, "fixedHeaders": [{"name": "Authorization", "value": f"Bearer {tokens[name]}"}]} for name in ("charts", "diary")]}))
    command = [
        pathlib.Path(sys.executable).parent / "schemathesis", "--no-color", "--config-file", ROOT / "scripts/api.d/schemathesis.toml", "run",
        f"{hub.address}/openapi.json", *(["--report", "ndjson,html", "--report-dir", report] if report else [])]
    environment = {
        "CLIENTS": str(clients), "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(ROOT / "scripts/api.d"), "PYTHONDONTWRITEBYTECODE": "1"}
    begin = time.monotonic()
    ran = subprocess.run(
        [str(word) for word in command], cwd=hub.folder, env=os.environ | environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False)
    seconds = time.monotonic() - begin
    if ran.returncode != 0:
        print(ran.stdout)
        raise SystemExit(f"check-api: schemathesis ended with {ran.returncode}")
    cases = re.search(r"([\d,]+) generated", ran.stdout)
    count = int(cases[1].replace(",", "")) if cases else 0
    if count < LEAST_CASES:
        print(ran.stdout)
        raise SystemExit(f"check-api: schemathesis made {count} requests only")
    return count, seconds


def exported(hub):
    """Whatever the store has of anybody."""
    file = hub.folder / "all.ndjson"
    file.unlink(missing_ok=True)
    hub.run("export", "--to", str(file))
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def others_objects(hub, tokens):
    """What one client may not see looks like what never was, to the octet, whoever's it is; and nobody deletes it."""
    objects = exported(hub)
    tried = 0
    for name, token in tokens.items():
        seen = {line["uuid"] for line in hub.lines("/v1/samples?format=ndjson", token)}
        hidden = [one["uuid"] for one in objects if one["uuid"] not in seen]
        for part, method in [("", "GET"), ("?content=true", "GET"), ("/raw", "GET"), ("", "DELETE")]:
            nobody = hub.ask(method, f"/v1/samples/{uuid.uuid4()}{part}", token)
            if nobody[0] != 404:
                raise SystemExit(f"check-api: {method} of nothing: {nobody}")
            for one in hidden[::max(1, len(hidden) // 100)]:
                if (answer := hub.ask(method, f"/v1/samples/{one}{part}", token)) != nobody:
                    raise SystemExit(f"check-api: {name}: {method} {one}{part}: {answer}")
                tried += 1
        if not hidden:
            raise SystemExit(f"check-api: {name} sees everything")
    if (left := len(exported(hub))) != len(objects):
        raise SystemExit(f"check-api: of {len(objects)} objects {left} are left")
    return tried


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vitalgate", required=True)
    parser.add_argument("--report")
    options = parser.parse_args()
    hub = Hub(options.vitalgate)
    try:
        tokens = fill(hub)
        hub.start()
        count, seconds = schemathesis(hub, tokens, options.report)
        tried = others_objects(hub, tokens)
        hub.end()
    finally:
        if hub.process is not None and hub.process.poll() is None:
            hub.process.kill()
            hub.process.wait()
        shutil.rmtree(hub.folder, ignore_errors=True)
    print(f"API: {count:,} requests of schemathesis in {seconds:.0f} s, {tried} of others' objects, all refused")


main()
