#!/usr/bin/env python3
"""A double of Home Assistant's WebSocket, as far as its recorder's statistics and its Bluetooth radios go.

It answers as the cases in Tests/HomeAssistantExportTests/Cases, which were recorded from 2026.2.3. As there, the answer to an import only
means that the rows are queued in memory: a thread writes them to a SQLite file, one task after another, at --rate rows a second.

Its radios hear what is posted to /hear: lines of JSON such as
{"source": "AA:BB:CC:00:00:01", "address": "A4:C1:38:02:83:F4", "rssi": -60, "raw": "hex", "age": 0}, with "local" for an adapter that does
not report packets, and "memory" for an advert that is only remembered; {"source": …, "gone": true} removes a radio, {"close": true} ends all
connections, {"text": …} is sent as it is. /told has the adverts that were sent to subscribers, a line each.

Usage: home_assistant.py --port N --database FILE [--version V] [--rate N] [--zone NAME] [--state STATE] [--no-bluetooth]

The token is "good". "member" is that of a user who is not an administrator.
"""

import argparse
import base64
import datetime
import hashlib
import json
import queue
import re
import socketserver
import sqlite3
import struct
import threading
import time
import zoneinfo

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
INBOUND_LIMIT = 4 << 20
FRAGMENT = 60_000
UNITS = {
    "mass": {"kg", "g", "mg", "μg", "oz", "lb", "st"}, "temperature": {"°C", "°F", "K"}, "pressure": {"mmHg", "hPa", "kPa"},
    "blood_glucose_concentration": {"mg/dL", "mmol/L"}, "distance": {"m", "km", "cm", "mm", "mi", "ft", "in", "yd"},
    "energy": {"kcal", "kJ", "J", "kWh", "Wh", "cal"}, "power": {"W", "kW", "mW"}, "duration": {"min", "s", "h", "ms", "d", "w"},
    "speed": {"m/s", "km/h", "mph"}, "volume": {"mL", "L", "m³"}, "volume_flow_rate": {"L/min"}, "unitless": {None, "%", "ppm", "ppb"},
}
FACTORS = {("lb", "kg"): 0.45359237}
ID = re.compile(r"(?!.+__)(?!_)[\da-z_]+(?<!_):(?!_)[\da-z_]+(?<!_)")
COLUMNS = ("mean", "min", "max", "state", "sum")


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code, self.message = code, message


class Recorder:
    """The queue in memory and the thread that writes."""

    def __init__(self, path, rate, zone):
        self.path, self.rate, self.zone = path, rate, zoneinfo.ZoneInfo(zone)
        self.tasks = queue.Queue()
        with self.connect() as database:
            database.executescript(
                "PRAGMA journal_mode = WAL;"
                "CREATE TABLE IF NOT EXISTS meta(id TEXT PRIMARY KEY, source, name, unit, class, mean_type, has_sum);"
                "CREATE TABLE IF NOT EXISTS row(id TEXT, start INTEGER, mean, min, max, state, sum, PRIMARY KEY(id, start));"
            )
        threading.Thread(target=self.run, daemon=True).start()

    def connect(self):
        return sqlite3.connect(self.path, timeout=30)

    def run(self):
        database = self.connect()
        while True:
            task, rows, done = self.tasks.get()
            if rows and self.rate:
                time.sleep(rows / self.rate)
            with database:
                task(database)
            if done:
                done.set()

    def queued(self, task, rows=0):
        self.tasks.put((task, rows, None))

    def awaited(self, task):
        done = threading.Event()
        self.tasks.put((task, 0, done))
        if not done.wait(10):
            raise Refused("timeout", "timed out")


class Bluetooth:
    """The radios. Home Assistant 2026.2.3 with habluetooth 5.8.0."""

    BASE = "0000%s-0000-1000-8000-00805f9b34fb"
    APPLE = 76
    APPLE_TYPES = (2, 6, 16, 17, 18)
    SWITCHING = 16

    def __init__(self):
        self.lock = threading.RLock()
        self.radios, self.history, self.merged, self.told = {}, {}, {}, []
        self.subscribers = []

    def subscribe(self, connection, id, kind):
        with self.lock:
            self.subscribers.append((connection, id, kind))
            if kind == "advertisements":
                connection.say_event(id, {"add": list(self.history.values())})
                self.told += [(item["address"], item["raw"]) for item in self.history.values()]
            elif kind == "scanner_details":
                connection.say_event(id, {"add": list(self.radios.values())})
            elif kind == "connection_allocations":
                connection.say_event(
                    id, [{"source": each, "slots": 0, "free": 0, "allocated": []} for each in self.radios])
            elif kind == "scanner_state":
                for each in self.radios.values():
                    connection.say_event(
                        id, {"source": each["source"], "adapter": each["adapter"], "current_mode": None, "requested_mode": None})

    def send(self, kind, event):
        for each in list(self.subscribers):
            if each[2] == kind:
                try:
                    each[0].say_event(each[1], event)
                except OSError:
                    self.subscribers.remove(each)

    def hear(self, item):
        with self.lock:
            if item.get("close"):
                for connection in {each[0] for each in self.subscribers}:
                    connection.hang_up()
                self.subscribers = []
            elif "text" in item:
                for connection in {each[0] for each in self.subscribers}:
                    try:
                        connection.say_bytes(item["text"].encode())
                    except OSError:
                        self.subscribers = [each for each in self.subscribers if each[0] is not connection]
            elif item.get("gone"):
                self.send("scanner_details", {"remove": [self.radios.pop(item["source"])]})
            else:
                self.heard(item)

    def heard(self, item):
        source, address = item["source"], item["address"]
        if source not in self.radios:
            name = item.get("name", "double " + source[-2:])
            self.radios[source] = {
                "source": source, "connectable": False, "name": f"{name} ({source})", "adapter": name, "scanner_type": "remote"}
            self.send("scanner_details", {"add": [self.radios[source]]})
        raw = bytes.fromhex(item["raw"])
        name, power, services, service_data, manufacturer_data = self.parse(raw)
        before = self.merged.get((source, address), ({}, {}, [], None))
        merged = (
            {**before[0], **manufacturer_data}, {**before[1], **service_data}, sorted({*before[2], *services}), name or before[3])
        self.merged[(source, address)] = merged
        told = {
            "name": merged[3] or address, "address": address, "rssi": item.get("rssi", -60),
            "manufacturer_data": {str(key): value.hex() for key, value in merged[0].items()},
            "service_data": {key: value.hex() for key, value in merged[1].items()}, "service_uuids": merged[2], "source": source,
            "connectable": False, "time": time.time() - item.get("age", 0), "tx_power": power,
            "raw": None if item.get("local") else item["raw"]}
        if list(merged[0]) == [self.APPLE] and not merged[1] and merged[0][self.APPLE][0] not in self.APPLE_TYPES:
            return
        old = self.history.get(address)
        if old and old["source"] != source and old["source"] in self.radios and told["rssi"] - self.SWITCHING <= old["rssi"]:
            return
        self.history[address] = told
        content = ("name", "manufacturer_data", "service_data", "service_uuids")
        if item.get("memory") or old and all(old[key] == told[key] for key in content):
            return
        self.told.append((address, item["raw"]))
        self.send("advertisements", {"add": [told]})

    def parse(self, raw):
        name, power, services, service_data, manufacturer_data = None, None, [], {}, {}
        while raw and raw[0] and raw[0] < len(raw):
            kind, data, raw = raw[1], raw[2:raw[0] + 1], raw[raw[0] + 1:]
            if kind in (8, 9):
                name = data.decode(errors="replace")
            elif kind == 10:
                power = int.from_bytes(data[:1], "little", signed=True)
            elif kind in (2, 3):
                services += [self.BASE % data[at:at + 2][::-1].hex() for at in range(0, len(data), 2)]
            elif kind == 0x16:
                service_data[self.BASE % data[:2][::-1].hex()] = data[2:]
            elif kind == 0xFF:
                manufacturer_data[int.from_bytes(data[:2], "little")] = data[2:]
        return name, power, services, service_data, manufacturer_data


class Instance:
    def __init__(self, options):
        self.bluetooth = None if options.no_bluetooth else Bluetooth()
        self.version, self.state = options.version, options.state
        self.recorder = Recorder(options.database, options.rate, options.zone)
        self.zone = options.zone

    @property
    def deletes_rows(self):
        return tuple(int(part) for part in self.version.split(".")[:2]) >= (2026, 11)

    def answer(self, command, is_administrator, connection):
        kind = command.get("type")
        if kind.startswith("bluetooth/subscribe_") and self.bluetooth:
            if not is_administrator:
                raise Refused("unauthorized", "Unauthorized")
            return lambda: self.bluetooth.subscribe(connection, command["id"], kind.removeprefix("bluetooth/subscribe_"))
        handler = getattr(self, "do_" + str(kind).replace("/", "_"), None)
        if handler is None:
            raise Refused("unknown_command", "Unknown command.")
        writing = ("recorder/import_statistics", "recorder/clear_statistics", "recorder/update_statistics_metadata")
        if kind in writing and not is_administrator:
            raise Refused("unauthorized", "Unauthorized")
        return handler(command)

    def do_supported_features(self, _):
        return None

    def do_get_config(self, _):
        return {"time_zone": self.zone, "state": self.state, "version": self.version, "components": ["recorder"], "recovery_mode": False}

    def do_recorder_info(self, _):
        return {
            "backlog": self.recorder.tasks.qsize(), "max_backlog": 65000, "migration_in_progress": False, "migration_is_live": False,
            "recording": True, "thread_running": True,
        }

    def do_recorder_import_statistics(self, command):
        meta, rows = command["metadata"], command["stats"]
        starts = []
        for index, row in enumerate(rows):
            for key in COLUMNS:
                value = row.get(key, 0.0)
                if isinstance(value, bool) or not isinstance(value, (int, float)):
                    raise Refused(
                        "invalid_format",
                        f"expected float for dictionary value @ data['stats'][{index}]['{key}']. Got {value!r}")
            starts.append(datetime.datetime.fromisoformat(row["start"]))
        if not ID.fullmatch(meta["statistic_id"]):
            raise Refused("home_assistant_error", "Invalid statistic_id")
        if meta["statistic_id"].split(":")[0] != meta["source"]:
            raise Refused("home_assistant_error", "Invalid source")
        name = meta.get("unit_class")
        if name is not None and name not in UNITS:
            raise Refused("home_assistant_error", f"Unsupported unit_class: '{name}'")
        if name is not None and meta["unit_of_measurement"] not in UNITS[name]:
            raise Refused(
                "home_assistant_error",
                f"Unsupported unit_of_measurement '{meta['unit_of_measurement']}' for unit_class '{name}'")
        for start in starts:
            if start.tzinfo is None:
                raise Refused("home_assistant_error", "Naive timestamp: no or invalid timezone info provided")
            if start.minute or start.second or start.microsecond:
                raise Refused(
                    "home_assistant_error",
                    "Invalid timestamp: timestamps must be from the top of the hour (minutes and seconds = 0)")

        def task(database):
            database.execute(
                "INSERT OR REPLACE INTO meta VALUES(?, ?, ?, ?, ?, ?, ?)",
                (meta["statistic_id"], meta["source"], meta["name"], meta["unit_of_measurement"], name, meta["mean_type"],
                 meta["has_sum"]))
            for start, row in zip(starts, rows):
                values = [None if row.get(key) is None else float(row[key]) for key in COLUMNS]
                database.execute(
                    "INSERT OR REPLACE INTO row VALUES(?, ?, ?, ?, ?, ?, ?)",
                    (meta["statistic_id"], int(start.timestamp()), *values))

        self.recorder.queued(task, len(rows))

    def do_recorder_update_statistics_metadata(self, command):
        def task(database):
            database.execute(
                "UPDATE meta SET unit = ?, class = ? WHERE id = ?",
                (command["unit_of_measurement"], command["unit_class"], command["statistic_id"]))

        self.recorder.awaited(task)

    def do_recorder_clear_statistics(self, command):
        ids = command["statistic_ids"]
        extra = [key for key in ("end_time", "start_time") if key in command]
        if extra and not self.deletes_rows:
            raise Refused(
                "invalid_format", "\n".join(f"extra keys not allowed @ data['{key}']. Got {command[key]!r}" for key in extra))
        if not extra:
            def task(database):
                for each in ids:
                    database.execute("DELETE FROM meta WHERE id = ?", (each,))
                    database.execute("DELETE FROM row WHERE id = ?", (each,))
        else:
            low, high = (int(datetime.datetime.fromisoformat(command[key]).timestamp()) for key in ("start_time", "end_time"))
            if low >= high:
                raise Refused("invalid_time_range", "start_time must be before end_time")

            def task(database):
                for each in ids:
                    database.execute("DELETE FROM row WHERE id = ? AND start > ? AND start < ?", (each, low - 3600, high))

        self.recorder.awaited(task)

    def do_recorder_get_statistics_metadata(self, command):
        with self.recorder.connect() as database:
            rows = database.execute("SELECT * FROM meta ORDER BY id").fetchall()
        return [
            {"statistic_id": id, "display_unit_of_measurement": unit, "has_mean": mean_type == 1, "mean_type": mean_type,
             "has_sum": bool(has_sum), "name": name, "source": source, "statistics_unit_of_measurement": unit, "unit_class": kind}
            for id, source, name, unit, kind, mean_type, has_sum in rows
            if id in command.get("statistic_ids", [id])
        ]

    def do_recorder_statistics_during_period(self, command):
        low = int(datetime.datetime.fromisoformat(command["start_time"]).timestamp())
        high = (
            int(datetime.datetime.fromisoformat(command["end_time"]).timestamp()) if "end_time" in command else 1 << 40)
        period = command["period"]
        if period != "hour":
            low, high = self.span(low, period)[0], self.span(high - 1, period)[1] if high < 1 << 40 else high
        types = command.get("types")
        result = {}
        with self.recorder.connect() as database:
            for each in command["statistic_ids"]:
                meta = database.execute("SELECT unit, has_sum FROM meta WHERE id = ?", (each,)).fetchone()
                if meta is None:
                    continue
                rows = database.execute(
                    "SELECT start, mean, min, max, state, sum FROM row WHERE id = ? AND start >= ? AND start < ? ORDER BY start",
                    (each, low, high)).fetchall()
                before = database.execute(
                    "SELECT sum FROM row WHERE id = ? AND start < ? ORDER BY start DESC LIMIT 1", (each, low)).fetchone()
                shown = self.shown(rows, period, before and before[0], meta[1], types)
                for wanted in command.get("units", {}).values():
                    for row in shown:
                        for key in COLUMNS:
                            if row.get(key) is not None and (meta[0], wanted) in FACTORS:
                                row[key] *= FACTORS[(meta[0], wanted)]
                if shown:
                    result[each] = shown
        return result

    def shown(self, rows, period, before, has_sum, types):
        groups = {}
        for row in rows:
            span = (row[0], row[0] + 3600) if period == "hour" else self.span(row[0], period)
            groups.setdefault(span, []).append(row)
        shown = []
        for (start, end), rows in sorted(groups.items()):
            keys = ("last_reset", "state", "sum", "change") if has_sum else ("last_reset", "mean", "min", "max")
            values = dict.fromkeys(keys)
            if has_sum:
                values["state"], values["sum"] = rows[-1][4], rows[-1][5]
                if rows[-1][5] is not None:
                    values["change"] = rows[-1][5] - (before or 0)
                    before = rows[-1][5]
            else:
                kept = [row for row in rows if row[1] is not None]
                if not kept and period != "hour":
                    continue
                if kept:
                    values["mean"] = sum(row[1] for row in kept) / len(kept)
                    values["min"], values["max"] = min(row[2] for row in kept), max(row[3] for row in kept)
            shown.append(
                {"start": start * 1000, "end": end * 1000,
                 **{key: value for key, value in values.items() if types is None or key in types}})
        return shown

    def span(self, second, period):
        day = datetime.datetime.fromtimestamp(second, self.recorder.zone).replace(hour=0, minute=0, second=0, microsecond=0)
        if period == "month":
            first = day.replace(day=1)
            last = (first + datetime.timedelta(days=32)).replace(day=1)
        else:
            first, last = day, day + datetime.timedelta(days=1)
        return tuple(int(each.replace(fold=0).timestamp()) for each in (first, last))


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        key = None
        request = self.rfile.readline()
        if request.startswith(b"GET /refused "):
            count = str(self.server.refused).encode()
            return self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(count), count))
        if request.startswith((b"POST /hear ", b"GET /told ")):
            return self.control(request)
        if not request.startswith(b"GET /api/websocket "):
            return self.wfile.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        while (line := self.rfile.readline().strip()):
            name, _, value = line.partition(b":")
            if name.lower() == b"sec-websocket-key":
                key = value.strip().decode()
        accept = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
        self.wfile.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: "
            + accept.encode() + b"\r\n\r\n")
        try:
            self.talk()
        except (ConnectionError, EOFError, BrokenPipeError):
            pass

    def control(self, request):
        length = 0
        while (line := self.rfile.readline().strip()):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        bluetooth, body = self.server.instance.bluetooth, self.exactly(length)
        for line in body.splitlines():
            bluetooth.hear(json.loads(line))
        told = "".join(f"{address} {raw}\n" for address, raw in bluetooth.told) if request.startswith(b"GET") else ""
        self.wfile.write(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(told), told.encode()))

    def talk(self):
        instance = self.server.instance
        self.say({"type": "auth_required", "ha_version": instance.version})
        login = self.hear()
        if login is None or login.get("access_token") not in ("good", "member"):
            self.server.refused += 1
            self.say({"type": "auth_invalid", "message": "Invalid access token or password"})
            return self.close(1000)
        self.say({"type": "auth_ok", "ha_version": instance.version})
        last = 0
        while (command := self.hear()) is not None:
            answer = {"id": command["id"], "type": "result"}
            then = None
            if command["type"] == "ping":
                self.say({"id": command["id"], "type": "pong"})
                continue
            try:
                if command["id"] <= last:
                    raise Refused("id_reuse", "Identifier values have to increase.")
                last = command["id"]
                result = instance.answer(command, login["access_token"] == "good", self)
                if callable(result):
                    result, then = None, result
                answer.update(success=True, result=result)
            except Refused as error:
                answer.update(success=False, error={"code": error.code, "message": error.message})
            self.say(answer)
            if then:
                then()

    def hear(self):
        data = b""
        while True:
            first, second = self.exactly(2)
            length = second & 0x7F
            if length > 125:
                length = struct.unpack(">H" if length == 126 else ">Q", self.exactly(2 if length == 126 else 8))[0]
            mask = self.exactly(4)
            if len(data) + length > INBOUND_LIMIT:
                return self.close(1009)
            body = self.exactly(length)
            repeated = (mask * (length // 4 + 1))[:length]
            body = (int.from_bytes(body, "big") ^ int.from_bytes(repeated, "big")).to_bytes(length, "big")
            kind = first & 15
            if kind == 8:
                return self.close(struct.unpack(">H", body[:2])[0] if len(body) > 1 else 1000)
            if kind == 9:
                self.frame(10, body)
            elif kind < 8:
                data += body
                if first & 0x80:
                    return json.loads(data)

    def exactly(self, count):
        data = self.rfile.read(count)
        if len(data) < count:
            raise EOFError
        return data

    def setup(self):
        super().setup()
        self.writing = threading.RLock()

    def hang_up(self):
        try:
            self.connection.shutdown(2)
        except OSError:
            pass

    def say_event(self, id, event):
        # As orjson writes it, without blanks.
        self.say_bytes(json.dumps({"id": id, "type": "event", "event": event}, separators=(",", ":")).encode())

    def say(self, message):
        self.say_bytes(json.dumps(message).encode())

    def say_bytes(self, data):
        with self.writing:
            self.say_pieces(data)

    def say_pieces(self, data):
        pieces = [data[at:at + FRAGMENT] for at in range(0, len(data), FRAGMENT)] or [b""]
        for index, piece in enumerate(pieces):
            self.frame(0 if index else 1, piece, index == len(pieces) - 1)
            if index < len(pieces) - 1:
                self.frame(9, b"between")

    def frame(self, kind, body, is_last=True):
        head = bytes([kind | (0x80 if is_last else 0)])
        if len(body) < 126:
            head += bytes([len(body)])
        elif len(body) < 1 << 16:
            head += bytes([126]) + struct.pack(">H", len(body))
        else:
            head += bytes([127]) + struct.pack(">Q", len(body))
        with self.writing:
            self.wfile.write(head + body)

    def close(self, code):
        self.frame(8, struct.pack(">H", code))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    refused = 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--database", required=True)
    parser.add_argument("--version", default="2026.2.3")
    parser.add_argument("--rate", type=float, default=0)
    parser.add_argument("--zone", default="Europe/Berlin")
    parser.add_argument("--state", default="RUNNING")
    parser.add_argument("--no-bluetooth", action="store_true")
    options = parser.parse_args()
    server = Server(("127.0.0.1", options.port), Connection)
    server.instance = Instance(options)
    server.serve_forever()


if __name__ == "__main__":
    main()
