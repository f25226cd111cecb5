"""The hubs of a fleet on this machine: a store each, fed by imports of files, and a `vitalgate export` that delivers it."""
import calendar
import contextlib
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import threading
import time
import uuid

KINDS = [("heartRate", "/min", 50, 60), ("bodyMass", "kg", 60, 30), ("bodyTemperature", "Cel", 36, 3)]


# The fields of each kind of sample, as the database has them.
OWN = {
    "quantity": lambda one: {"numeral": one["original"]["value"], "numeral_unit": one["original"]["unit"], "value": float(one["value"]), "unit": one["unit"]},
    "category": lambda one: {"value": one["value"], "case": one["case"]},
    "workout": lambda one: {"activity": one["activity"], "duration": one["duration"] and float(one["duration"])},
}


def seconds(zone):
    """The seconds of an offset such as +01:00, or None."""
    return zone and (-1 if zone[0] == "-" else 1) * (int(zone[1:3]) * 3600 + int(zone[4:6]) * 60)


class Hub:
    rows = 200

    def __init__(self, fleet, number, seed):
        self.fleet, self.number, self.seed = fleet, number, seed
        self.random, self.name = random.Random(f"{seed} hub {number}"), f"hub-{number}"
        self.store, self.configuration = f"{fleet.folder}/hub{number}.db", f"{fleet.folder}/hub{number}/config.json5"
        self.lock, self.files, self.exports, self.process, self.environment = threading.RLock(), 0, 0, None, {}
        self.was_restored = False
        self.counts = {}
        os.mkdir(f"{fleet.folder}/hub{number}")
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write("{}")

    def join(self):
        """Joins with a code of the center, and learns one broker from it. The operator lists the others."""
        found = self.fleet.center.fleet("enroll", "--name", self.name)
        if found.returncode != 0:
            raise SystemExit(f"no code for {self.name}: {found.stdout}{found.stderr}")
        servers = self.fleet.center.broker_settings()["servers"]
        first = servers[self.number % len(servers)]
        self.run("fleet", "join", f"{first}/chaos", found.stdout.strip())
        with open(self.configuration, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"servers: \[[^]]*\]", "servers: " + json.dumps(servers), text)
        # A third of the hubs seal what they send.
        if self.number % 3:
            text = re.sub(r",?\s*sealingKey: \"[^\"]*\"", "", text)
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write(text)

    # The program

    def command(self, *words, store=None):
        return [self.fleet.program, "--profiles", self.fleet.profiles, "--config", self.configuration, "--store", store or self.store, *words]

    def run(self, *words, codes=(0,), store=None):
        found = subprocess.run(
            self.command(*words, store=store), capture_output=True, text=True, timeout=300, check=False, env={**os.environ, **self.environment})
        if codes and found.returncode not in codes:
            raise SystemExit(f"hub {self.number}: {' '.join(words)}: status {found.returncode}\n{found.stdout}{found.stderr}")
        return found

    def start(self):
        with open(f"{self.fleet.folder}/hub{self.number}.log", "ab") as log:
            self.process = subprocess.Popen(
                self.command("export", "center"), stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**os.environ, **self.environment})

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    # What people do with a hub

    def readings(self, number):
        """The rows of the file with this number. They follow from the seed."""
        lot = random.Random(f"{self.seed} {self.number} {number}")
        rows = []
        for _ in range(self.rows):
            kind, unit, low, wide = lot.choice(KINDS)
            moment = "2026-%02d-%02dT%02d:%02d:%02d.%03dZ" % tuple(
                lot.randrange(*some) for some in [(1, 11), (1, 29), (0, 24), (0, 60), (0, 60), (0, 1000)])
            # A person's readings come from up to three hubs.
            person = uuid.UUID(int=random.Random(self.number + lot.randrange(3)).getrandbits(128), version=4)
            device = lot.randrange(3)
            rows.append(f"{moment},{kind},{low + lot.randrange(wide * 10) / 10},{unit},Source {device},{self.number}-{device},{person}")
        return rows

    def write_file(self, number):
        """Writes a file. One in a hundred of its readings is also in a file of the next hub."""
        before = self.fleet.hubs[self.number - 1] if self.fleet.hubs else self
        rows = self.readings(number) + before.readings(number)[:max(1, self.rows // 100)]
        path = f"{self.fleet.folder}/hub{self.number}-{number}.csv"
        with open(path, "w", encoding="utf-8") as file:
            file.write("time,type,value,unit,source,device,subject\n" + "\n".join(rows) + "\n")
        return path

    def import_file(self, number=None):
        if number is None:
            number, self.files = self.files, self.files + 1
        # 65: readings that were deleted or refused before.
        self.run("import", "--exact", self.write_file(number), codes=(0, 65))

    def person(self, number):
        """A person whose readings come from up to three hubs."""
        return str(uuid.UUID(int=random.Random(number).getrandbits(128), version=4))

    def export(self, number):
        """The export of a phone: sleep, workouts, quantities with metadata, device, and zone, and versions of records. The next hub has
        other versions of some of the same records."""
        lot = random.Random(f"{self.seed} {self.number} export {number}")
        parts = []

        def element(name, content="", **attributes):
            parts.append(f"<{name} " + " ".join(f'{key}="{value}"' for key, value in attributes.items()) + f">{content}</{name}>")

        def times(lot, longest):
            zone = lot.choice([-5, 0, 1, 9])
            begin = calendar.timegm((2026, lot.randrange(1, 11), lot.randrange(1, 29), lot.randrange(24), lot.randrange(60), lot.randrange(60)))
            text = [time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment + zone * 3600)) + f" {zone:+03}00" for moment in (begin, begin + longest)]
            return {"creationDate": text[1], "startDate": text[0], "endDate": text[1]}

        def metadata(**entries):
            return "".join(f'<MetadataEntry key="{key}" value="{value}"/>' for key, value in entries.items())

        device = "&lt;&lt;HKDevice: 0x1&gt;, name:Watch, manufacturer:Maker, model:Watch, hardware:W1, software:1&gt;"
        for _ in range(20):
            case = lot.choice(["AsleepCore", "AsleepDeep", "AsleepREM", "Awake", "InBed"])
            element("Record", type="HKCategoryTypeIdentifierSleepAnalysis", sourceName="Watch", device=device,
                    value="HKCategoryValueSleepAnalysis" + case, **times(lot, 60 * lot.randrange(1, 90)))
            activity = lot.choice(["Running", "Walking", "Yoga"])
            minutes = lot.randrange(5, 90)
            element("Workout", metadata(HKIndoorWorkout=lot.randrange(2)), workoutActivityType="HKWorkoutActivityType" + activity, duration=minutes,
                    durationUnit="min", sourceName="Watch", device=device, **times(lot, 60 * minutes))
            element("Record", metadata(HKWasUserEntered=lot.randrange(2)), type="HKQuantityTypeIdentifierDietaryWater", sourceName="Phone", unit="mL",
                    value=lot.randrange(10, 900), **times(lot, 0))
            # The content follows from the record and its version.
            record, version = f"{self.number + lot.randrange(2)}-{lot.randrange(30)}", lot.randrange(1, 6)
            own = random.Random(f"{self.seed} {record} {version}")
            element("Record", metadata(HKMetadataKeySyncIdentifier=record, HKMetadataKeySyncVersion=version),
                    type="HKQuantityTypeIdentifierDietaryCaffeine", sourceName="Diary", unit="mg", value=own.randrange(20, 300), **times(own, 0))
        return '<?xml version="1.0" encoding="UTF-8"?>\n<HealthData locale="en_US">\n<ExportDate value="2026-11-20 08:00:00 +0000"/>\n' + "\n".join(parts) + "\n</HealthData>\n"

    def import_export(self):
        number, self.exports = self.exports, self.exports + 1
        path = f"{self.fleet.folder}/hub{self.number}-{number}.xml"
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.export(number))
        self.run("import", "--exact", "--person", self.person(self.number // 2), path, codes=(0, 65))

    def act(self):
        """One thing that people do, at random."""
        lot = self.random
        action = lot.choices(["import", "import an export", "import again", "delete", "repair", "merge people", "undo a repair", "undo an entry"], [5, 3, 2, 2, 2, 1, 1, 1])[0]
        with self.lock:
            if action == "import":
                self.import_file()
            elif action == "import an export":
                self.import_export()
            elif action == "import again":
                self.import_file(lot.randrange(self.files))
            elif action == "delete":
                kind, condition = lot.choice(
                    [(name, f"value < {lot.choice([51, 61, 36.2])}") for name, *_ in KINDS] + [("dietaryCaffeine", "value < 60"), ("workout", "duration < 900")])
                self.run("delete", "--type", kind, "--where", condition, "--yes", codes=None)
            elif action == "repair":
                self.run("repair", "apply", "--type", "bodyTemperature", "--source", f"Source {lot.randrange(3)}", "--shift", "+1h", codes=None)
            elif action == "merge people":
                # Another hub may still have the readings of the first one.
                one, other = (self.person(self.number + lot.randrange(3)) for _ in range(2))
                self.run("repair", "apply", "--person", one, "--assign", other, "--merge", codes=None)
            elif action == "undo a repair":
                self.run("repair", "undo", str(lot.randrange(1, 4)), codes=None)
            else:
                self.run("ledger", "undo", str(lot.randrange(1, 2 + self.files)), codes=None)
        self.counts[action] = self.counts.get(action, 0) + 1

    # Copies of the store

    def back_up(self, path):
        if os.path.exists(path):
            os.unlink(path)
        self.run("store", "backup", path)

    def put_back(self, path):
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(self.store + suffix):
                os.unlink(self.store + suffix)
        shutil.copy(path, self.store)
        self.was_restored = True

    def deliver(self, seconds=120):
        """Delivers everything, and tries again as long as the center does not answer. Returns the last attempt."""
        end = time.monotonic() + seconds
        while True:
            found = self.run("export", "center", "--once", codes=None)
            if found.returncode != 75 or time.monotonic() > end:
                return found
            time.sleep(0.2)

    # Contents

    def identifier(self):
        """The identifier of the store, by which the database knows this hub."""
        with contextlib.closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as database:
            return database.execute("SELECT value FROM setting WHERE name = 'store'").fetchone()[0]

    def contents(self):
        """The store's samples by UUID, as the database should have them."""
        held = {}
        for line in self.run("query", "all", "--format", "ndjson").stdout.splitlines():
            one = json.loads(line)
            device = one["device"]
            held[one["uuid"]] = {
                **{name: one[name] for name in ("type", "start", "end", "subject", "metadata")}, "zone": seconds(one["zone"]),
                "source": one["source"]["name"], "device": device and [device[name] for name in ("key", "name", "manufacturer", "model", "serial")],
                **OWN[one["kind"]](one)}
        return held

    def last_change(self):
        with contextlib.closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)) as database:
            return database.execute("SELECT value FROM setting WHERE name = 'seq'").fetchone()[0]

    def claims(self):
        """The last change of the store if the target has everything, or None. A hub that runs may deliver at the same time."""
        found = self.run("targets", "status", "center", "--format", "ndjson", codes=None)
        one = json.loads(found.stdout.splitlines()[0])
        return self.last_change() if one["waiting"] == 0 else None

    def live(self):
        """The number of the change and the person of each sample, by UUID."""
        lines = self.run("query", "all", "--format", "ndjson").stdout.splitlines()
        return {one["uuid"]: (one["seq"], one["subject"]) for one in map(json.loads, lines)}

    def check(self):
        """The store's own check, and the sums of its ledger."""
        self.run("store", "check")
        for line in self.run("ledger", "list", "--format", "ndjson").stdout.splitlines():
            one = json.loads(line)
            parts = [one.get(key, 0) for key in ("stored", "duplicate", "quarantined", "refused")]
            if one.get("kind") == "import" and one["read"] != sum(parts):
                raise SystemExit(f"hub {self.number}: ledger entry {one['ingest']}: {one['read']} readings are not {' + '.join(map(str, parts))}")
