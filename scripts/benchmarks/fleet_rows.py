"""The rows of a fleet's center with many hubs: the time to a receipt, and the replay of an outage.

The hubs are simulated by one process with one connection to the broker. Their blocks were made by the real program. For each hub, the person, the key of the
device, and the time of the first reading are replaced, so that each hub has its own person and readings.
"""
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import threading
import time
import zlib

import export_rows
import measure
from result import Result, verdict

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fleet.d"))

from nats_client import Client  # noqa: E402

HUBS = 1000
RATE = 2  # readings per second of one hub
DEVICE = "device-0000"
BEGIN = 1_767_225_600_000_000  # the first reading of each real block, in microseconds since 1970
SIZES = [*range(RATE, 41, RATE), 50, 100, 250, 500, 1000, 2000]
STEP = 1_000_000 // RATE


def varint(number):
    octets = bytearray()
    while number >= 128:
        octets.append(number & 127 | 128)
        number >>= 7
    octets.append(number)
    return bytes(octets)


def number(octets, at):
    """A varint and the position after it."""
    value, shift = 0, 0
    while True:
        value |= (octets[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if octets[at - 1] < 128:
            return value, at


class Delivery:
    """A request of the real program with some readings, as a form for other hubs."""

    def __init__(self, request):
        _, at = number(request, 0)  # version
        length, at = number(request, at)
        at += length
        length, at = number(request, at)
        self.person = request[at:at + length]
        self.kind, at = number(request, at + length)
        self.head = request[:at]
        if self.kind != 3:
            return
        length, at = number(request, at)
        self.mark = json.loads(request[at:at + length])
        self.flags = request[at + length:at + length + 1]
        length, at = number(request, at + length + 1)
        self.block = zlib.decompress(request[at:at + length])
        self.tail = request[at + length:]
        # Signed numbers are written with the sign in the lowest bit.
        if not self.block.count(DEVICE.encode()) or self.block.count(varint(BEGIN << 1)) != 1 or self.block.count(self.person) != 1:
            raise SystemExit("bench: a block has another form than expected")

    def of(self, hub, count, begin):
        """The request of a simulated hub with its own person, device, mark, and times."""
        person = f"{hub:08x}".encode() + self.person[8:]
        block = self.block.replace(self.person, person).replace(DEVICE.encode(), f"device-{hub:04}".encode()).replace(varint(BEGIN << 1), varint(begin << 1))
        mark = json.dumps({**self.mark, "count": count}, separators=(",", ":"), sort_keys=True).encode()
        block = zlib.compress(block, 1)
        return self.head.replace(self.person, person) + varint(len(mark)) + mark + self.flags + varint(len(block)) + block + self.tail


def record(bench, port, broker):
    """The requests of the real program: a claim, and for each size a delivery with so many readings."""
    claims, deliveries, requests = [], {}, []
    client = Client(port)
    client.subscribe("vitalgate.bench.hub.*")

    def listen():
        try:
            while True:
                requests.extend(payload for _, _, payload in client.messages())
        except OSError:
            pass

    threading.Thread(target=listen, daemon=True).start()
    for size in SIZES:
        store = bench.fresh_store()
        config = export_rows.configured(bench, {"center": {"kind": "fleet", **broker}})
        file = bench.scratch / "block.csv"
        rows = [f"{stamp(BEGIN + index * STEP)},heartRate,{60 + index % 40},/min,Strap,{DEVICE}" for index in range(size)]
        file.write_text("time,type,value,unit,source,device\n" + "\n".join(rows) + "\n", encoding="utf-8")
        command = [bench.vitalgate, "--store", store, "--config", config]
        requests.clear()
        measure.run([*command, "import", "--exact", file])
        # The collector may still be starting.
        for _ in range(100):
            if subprocess.run([*command, "export", "center", "--once"], check=False, capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        time.sleep(0.05)
        forms = [(Delivery(request), request) for request in requests]
        claims = [request for form, request in forms if form.kind == 1] or claims
        deliveries[size] = next(form for form, _ in forms if form.kind == 3)
    client.close()
    return claims[-1], deliveries


def stamp(microseconds):
    seconds, rest = divmod(microseconds, 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:06}Z"


class Hub:
    def __init__(self, index, deliveries):
        self.index, self.deliveries = index, deliveries
        self.subject = f"vitalgate.bench.hub.{index:032x}"
        self.reply = f"vitalgate.bench.reply.{index:032x}.1"
        # The claim is number 1.
        self.count, self.sent, self.is_waiting, self.published, self.size = 1, 0, False, 0.0, 0

    def next(self, available):
        """The next request with as many readings as there are."""
        self.size = max(size for size in SIZES if size <= available)
        self.count += 1
        request = self.deliveries[self.size].of(self.index, self.count, BEGIN + self.sent * STEP)
        self.is_waiting, self.published = True, time.perf_counter()
        return request


class Hubs:
    """Simulated hubs. Each has one request under way, as the real program."""

    def __init__(self, port, hubs, claim, deliveries):
        self.client = Client(port)
        self.client.subscribe("vitalgate.bench.reply.>")
        self.hubs = [Hub(index + 1, deliveries) for index in range(hubs)]
        self.by_reply = {hub.reply: hub for hub in self.hubs}
        self.lock = threading.Lock()
        self.ages, self.receipts, self.failure = [], [], None
        self.begin = None
        for hub in self.hubs:
            self.client.publish(hub.subject, claim, hub.reply)
        claimed = 0
        while claimed < hubs:
            for _, _, payload in self.client.messages():
                if b"claimed" not in payload:
                    raise SystemExit(f"bench: a claim was answered with {payload[:200]}")
                claimed += 1
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        try:
            while True:
                for subject, _, payload in self.client.messages():
                    now, hub = time.perf_counter(), self.by_reply[subject]
                    if not payload.startswith(b'{"leftOut":0'):
                        self.failure = payload[:300]
                        return
                    with self.lock:
                        self.receipts.append(now - hub.published)
                        # The age of the oldest reading of the block, by the hub's schedule.
                        if self.begin is not None:
                            self.ages.append(now - (self.begin + hub.index / len(self.hubs) + hub.sent / RATE))
                        hub.sent += hub.size
                        hub.is_waiting = False
        except OSError:
            pass

    def live(self, seconds):
        """Each hub has a reading every half second, and sends what has come up once a second."""
        self.begin = time.perf_counter()
        due = {hub: self.begin + hub.index / len(self.hubs) + 1 for hub in self.hubs}
        while (now := time.perf_counter()) < self.begin + seconds + 1 and not self.failure:
            for hub in self.hubs:
                if not hub.is_waiting and due[hub] <= now:
                    available = int((now - self.begin - hub.index / len(self.hubs)) * RATE) - hub.sent
                    if available >= RATE:
                        self.send(hub, available)
                        due[hub] = max(due[hub] + 1, now)
            time.sleep(0.001)
        self.wait()

    def replay(self, readings):
        """Each hub sends so many readings as fast as the receipts come."""
        start = time.perf_counter()
        while not self.failure and any(hub.is_waiting or hub.sent < readings for hub in self.hubs):
            for hub in self.hubs:
                if not hub.is_waiting and hub.sent < readings:
                    self.send(hub, readings - hub.sent)
            time.sleep(0.001)
        return time.perf_counter() - start

    def send(self, hub, available):
        request = hub.next(available)
        self.client.publish(hub.subject, request, hub.reply)

    def wait(self):
        end = time.monotonic() + 60
        while any(hub.is_waiting for hub in self.hubs) and not self.failure and time.monotonic() < end:
            time.sleep(0.05)
        if self.failure or any(hub.is_waiting for hub in self.hubs):
            raise SystemExit(f"bench: a request failed: {self.failure or 'no receipt'}")


@contextlib.contextmanager
def started(command):
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def fleet_latency(bench):
    """1,000 hubs with two readings a second each, and the replay of an outage of three days of 100 hubs, scaled down."""
    seconds, scale = (60, 50) if bench.rows >= 1_000_000 else (20, 500)
    with export_rows.server() as host, export_rows.nats() as (port, _):
        database = {"host": host, "database": "postgres", "user": "vitalgate"}
        broker = {"fleet": "bench", "servers": [f"nats://127.0.0.1:{port}"]}
        # Not in the scratch folder, which is emptied for each new store.
        center = bench.folder / "center.json5"
        center.write_text(json.dumps({"collect": {"broker": broker, "database": database}}), encoding="utf-8")
        collect = [bench.vitalgate, "--config", center, "collect"]
        subprocess.run([*collect, "--create"], check=True, stdout=subprocess.DEVNULL)
        with started(collect) as collector:
            bench.say("blocks of the real program")
            claim, deliveries = record(bench, port, broker)
            bench.say(f"{HUBS:,} hubs for {seconds} s")
            hubs = Hubs(port, HUBS, claim, deliveries)
            hubs.live(seconds)
            hubs.client.close()
            rows = count_of(host)
            receipts, ages, sent = hubs.receipts, hubs.ages, sum(hub.sent for hub in hubs.hubs)
            subprocess.run(
                ["psql", "-q", "-h", host, "-U", "vitalgate", "-d", "postgres", "-c", "TRUNCATE vitalgate.sample, vitalgate.progress; CHECKPOINT"], check=True)
            days = 3 * 86_400 * RATE
            bench.say(f"{days // scale:,} readings of each of 100 hubs")
            hubs = Hubs(port, 100, claim, deliveries)
            took = hubs.replay(days // scale)
            hubs.wait()
            replayed = sum(hub.sent for hub in hubs.hubs)
            hubs.client.close()
            if count_of(host) != replayed or rows < sent:
                raise SystemExit("bench: readings with a receipt are not in the database")
            peak = export_rows.peak_memory(collector.pid) / 1e6
    p50, p99, age = statistics.median(receipts), percentile(receipts, 0.99), percentile(ages, 0.99)
    minutes = took * days * 100 / replayed / 60
    return [
        Result(
            "fleet-latency", f"{HUBS:,} simulated hubs with {RATE} readings a second each, for {seconds} s: from sending a block to its receipt (p50, p99)", "p99 < 3 s",
            "", f"{p50:.2f} s, {p99:.2f} s", verdict=verdict(p99 < 3), values={"p50": p50, "p99": p99, "blocks": len(receipts), "readings": sent}),
        Result(
            "fleet-latency", "  from a reading to its receipt (p99), by the oldest of each block", "", "", f"{age:.2f} s", values={"p99": age}),
        Result(
            "fleet-latency", f"replay of an outage of 3 days of 100 hubs, computed from 1/{scale} of it ({replayed:,} readings in {took:.1f} s)", "< 15 min", "",
            f"{minutes:.1f} min, {replayed / took:,.0f} readings/s", verdict=verdict(minutes < 15), values={"seconds": took, "readings": replayed}),
        Result("fleet-latency", "  the collector's memory at the peak", "< 150 MB", "", f"{peak:.1f} MB", verdict=verdict(peak < 150)),
    ]


def count_of(host):
    found = subprocess.run(
        ["psql", "-qAt", "-h", host, "-U", "vitalgate", "-d", "postgres", "-c", "SELECT count(*) FROM vitalgate.sample"], check=True, capture_output=True, text=True)
    return int(found.stdout)
