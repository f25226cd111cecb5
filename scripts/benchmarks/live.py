"""Runs the hub against a BlueZ that is a script on a private bus, and prints what it took as JSON:
live.py VITALGATE FOLDER flood|crowd|served|one|rest|heard|wear-one|wear-twenty COUNT

flood: one strap sends COUNT frames as fast as they are taken; crowd: twenty straps send one a second for COUNT seconds; served: the same, with the page and the API, which nobody asks meanwhile; one: a single
strap does; rest: nobody is adopted for COUNT seconds; heard: COUNT addresses are heard that BlueZ does not forget, beside a strap;
wear-one, wear-twenty: straps send one a second for COUNT seconds by a clock that goes faster, and what reaches the card is counted.
Every frame is a heart rate with one RR interval. Needs dbus-fast."""

import asyncio
import ctypes
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import time

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

import measure

ADAPTER, DEVICE, SERVICE, CHARACTERISTIC = (
    f"org.bluez.{name}" for name in ("Adapter1", "Device1", "GattService1", "GattCharacteristic1"))
HCI = "/org/bluez/hci0"
FASTER = 30  # what is measured by the hour takes two minutes
POLICY = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
    "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={0}/bus</listen><auth>EXTERNAL</auth><policy context="default"><allow user="*"/>
<allow own="*"/><allow send_type="method_call"/><allow send_type="signal"/><allow send_requested_reply="true" send_type="method_return"/>
<allow send_requested_reply="true" send_type="error"/><allow receive_type="method_call"/><allow receive_type="signal"/>
<allow receive_type="method_return"/><allow receive_type="error"/></policy></busconfig>"""


def uuid(number):
    return f"0000{number:04x}-0000-1000-8000-00805f9b34fb"


def frame(number):
    return bytes([0x10, 60 + number % 100]) + (512 + number % 1024).to_bytes(2, "little")


class BlueZ:
    """One adapter, and straps whose notifications are read from a socket, as BlueZ's AcquireNotify gives it out."""

    def __init__(self, straps):
        self.addresses = [f"C0:01:02:03:05:{number:02X}" for number in range(straps)]
        self.listening = asyncio.Event()  # all straps are read
        self.pipes = {}  # our ends of the sockets, by the path of the characteristic
        self.tree = {"/org/bluez": {"org.bluez.AgentManager1": {}}, HCI: {ADAPTER: {
            "Address": Variant("s", "C0:FF:EE:00:00:01"), "AddressType": Variant("s", "public"), "Name": Variant("s", "bench"),
            "Powered": Variant("b", True), "Discovering": Variant("b", False), "UUIDs": Variant("as", [])}}}
        for address in self.addresses:
            path = f"{HCI}/dev_{address.replace(':', '_')}"
            self.tree[path] = {DEVICE: {
                "Address": Variant("s", address), "AddressType": Variant("s", "random"), "Adapter": Variant("o", HCI),
                "Name": Variant("s", "Strap"), "Paired": Variant("b", False), "Connected": Variant("b", False), "RSSI": Variant("n", -50),
                "ServicesResolved": Variant("b", False), "UUIDs": Variant("as", [uuid(0x180D)])}}
            self.tree[f"{path}/service0010"] = {SERVICE: {
                "UUID": Variant("s", uuid(0x180D)), "Device": Variant("o", path), "Primary": Variant("b", True)}}
            self.tree[f"{path}/service0010/char0011"] = {CHARACTERISTIC: {
                "UUID": Variant("s", uuid(0x2A37)), "Service": Variant("o", f"{path}/service0010"), "Flags": Variant("as", ["notify"]),
                "Notifying": Variant("b", False), "NotifyAcquired": Variant("b", False)}}

    async def serve(self, address):
        self.bus = await MessageBus(address, negotiate_unix_fd=True).connect()
        self.bus.add_message_handler(self.answer)
        await self.bus.request_name("org.bluez")

    def answer(self, message):
        if message.message_type != MessageType.METHOD_CALL:
            return None
        match message.member:
            case "GetManagedObjects":
                return Message.new_method_return(message, "a{oa{sa{sv}}}", [self.tree])
            case "Get":
                return Message.new_method_return(message, "v", [self.tree[message.path][message.body[0]][message.body[1]]])
            case "GetAll":
                return Message.new_method_return(message, "a{sv}", [self.tree[message.path].get(message.body[0], {})])
            case "Connect":
                self.change(message.path, Connected=True)
                self.change(message.path, ServicesResolved=True)
            case "Disconnect":
                self.change(message.path, Connected=False, ServicesResolved=False)
            case "AcquireNotify":
                ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                self.pipes[message.path] = ours
                if len(self.pipes) == len(self.addresses):
                    self.listening.set()
                return Message.new_method_return(message, "hq", [0, 247], [theirs.detach()])
        return Message.new_method_return(message)

    def hear(self, number):
        """Shows an address that nobody has heard before; it never goes away."""
        digits = f"{0x4A0000000000 + number:012X}"
        address = ":".join(digits[index:index + 2] for index in range(0, 12, 2))
        self.bus.send(Message(
            message_type=MessageType.SIGNAL, path="/", interface="org.freedesktop.DBus.ObjectManager", member="InterfacesAdded",
            signature="oa{sa{sv}}", body=[f"{HCI}/dev_{address.replace(':', '_')}", {DEVICE: {
                "Address": Variant("s", address), "AddressType": Variant("s", "random"), "Adapter": Variant("o", HCI),
                "RSSI": Variant("n", -70), "Connected": Variant("b", False)}}]))

    async def settled(self):
        """What was sent so far has gone to the bus."""
        await self.bus.call(Message(destination="org.freedesktop.DBus", path="/org/freedesktop/DBus",
                                    interface="org.freedesktop.DBus", member="GetId"))

    def change(self, path, **properties):
        changed = {name: Variant("b", value) for name, value in properties.items()}
        self.tree[path][DEVICE].update(changed)
        self.bus.send(Message(message_type=MessageType.SIGNAL, path=path, interface="org.freedesktop.DBus.Properties",
                              member="PropertiesChanged", signature="sa{sv}as", body=[DEVICE, changed, []]))


class Hub:
    def __init__(self, vitalgate, folder, address, served=False):
        self.store = folder / "live.vitalgate"
        self.command = [vitalgate, "--store", self.store, "--profiles", pathlib.Path(__file__).resolve().parents[2] / "DeviceProfiles"]
        self.socket = folder / "live.http" if served else None
        if served:
            config = folder / "live.json5"
            config.write_text(f'{{ api: {{ listen: "unix:{self.socket}" }} }}', encoding="utf-8")
            self.command += ["--config", config]
        self.environment = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": address}

    def adopt(self, address):
        subprocess.run([*self.command, "devices", "adopt", address, "--profile", "sig-heart-rate"], check=True, capture_output=True,
                       env=self.environment)

    def start(self, environment=None):
        self.log = open(self.store.with_suffix(".log"), "wb")
        self.process = subprocess.Popen([*measure.pinned(), *self.command, "run"], env=self.environment | (environment or {}),
                                        stderr=self.log)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        if self.process.returncode != 0:
            raise SystemExit(f"the hub ended with {self.process.returncode}: see {self.log.name}")

    def stored(self):
        """How many samples are durable."""
        database = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)
        try:
            return database.execute("SELECT count(*) FROM sample").fetchone()[0]
        finally:
            database.close()

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def written_bytes(self):
        """What it caused to be sent to the disk: whole pages, the log and its transfer into the store alike."""
        lines = pathlib.Path(f"/proc/{self.process.pid}/io").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("write_bytes"))

    def peak_bytes(self):
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


    def has_page(self):
        """Whether there is a page, which asks who it is that comes."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(str(self.socket))
            connection.sendall(b"GET /page/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return connection.recv(12) == b"HTTP/1.1 401"

    def hurry(self):
        """Has it commit each second, as a program that follows the changes does, until the connection is closed."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(f"{self.store}.sock")
        connection.sendall(b'{"vitalgate":1,"ask":"hurry"}\n')
        connection.recv(1 << 20)
        return connection


class Card:
    """A file system on a device of its own, so that all that is written to it can be counted: the hub's pages, and the file system's own.
    Only root can make one."""

    SIZE = 512 << 20

    def __init__(self, folder):
        self.folder, self.image = folder / "live.card", folder / "live.image"
        self.folder.mkdir(exist_ok=True)
        self.device = None
        if os.geteuid() == 0:
            with open(self.image, "wb") as image:
                image.truncate(self.SIZE)
            # All of it made now, rather than behind our back.
            subprocess.run(["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", self.image], check=True)
            subprocess.run(["mount", "-o", "loop", self.image, self.folder], check=True)
            self.device = subprocess.run(["findmnt", "-no", "SOURCE", self.folder], check=True, capture_output=True,
                                         text=True).stdout.strip()

    def written_bytes(self):
        if self.device is None:
            return 0
        fields = pathlib.Path(f"/sys/block/{pathlib.Path(self.device).name}/stat").read_text(encoding="utf-8").split()
        return int(fields[6]) * 512

    def settle(self):
        """Writes what is only in memory, as the kernel does by itself each half minute."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            ctypes.CDLL(None).syncfs(descriptor)
        finally:
            os.close(descriptor)

    def close(self):
        if self.device is not None:
            subprocess.run(["umount", self.folder], check=True)
            self.image.unlink()
        shutil.rmtree(self.folder)


def hour(folder):
    """The environment of a program whose hour is over in minutes."""
    library = folder / "live.hour.so"
    compiler = next(name for name in ("cc", "clang", "gcc") if shutil.which(name))
    source = pathlib.Path(__file__).with_name("hour.c")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library), "FASTER": str(FASTER)}


async def until(condition):
    while not condition():
        await asyncio.sleep(0.05)


async def flood(bluez, hub, count):
    pipe = next(iter(bluez.pipes.values()))
    connection = hub.hurry()
    before = hub.cpu_seconds()
    begin = time.perf_counter()
    await asyncio.to_thread(lambda: [pipe.send(frame(number)) for number in range(count)])
    await until(lambda: hub.stored() >= 2 * count)
    connection.close()
    return {"frames": count, "seconds": time.perf_counter() - begin, "cpu_seconds": hub.cpu_seconds() - before}


async def crowd(bluez, hub, seconds):
    """The straps send one after the other, evenly over each second. What waits to be committed at the end is when the hub stops."""
    pipes = list(bluez.pipes.values())
    before, begin, sent = hub.cpu_seconds(), time.perf_counter(), 0
    for number in range(seconds):
        for index, pipe in enumerate(pipes):
            await asyncio.sleep(max(0, begin + number + index / len(pipes) - time.perf_counter()))
            pipe.send(frame(number))
            sent += 1
    return {"frames": sent, "seconds": time.perf_counter() - begin, "cpu_seconds": hub.cpu_seconds() - before}


async def wear(bluez, hub, seconds, card):
    """So many seconds by the hub's clock, which runs FASTER than ours. Counted is what was written for what is durable at the end."""
    pipes = list(bluez.pipes.values())
    await asyncio.to_thread(card.settle)
    pages, written, begin, sent = hub.written_bytes(), card.written_bytes(), time.perf_counter(), 0
    for number in range(seconds):
        if number % 30 == 15:
            await asyncio.to_thread(card.settle)
        for index, pipe in enumerate(pipes):
            await asyncio.sleep(max(0, begin + (number + index / len(pipes)) / FASTER - time.perf_counter()))
            pipe.send(frame(number))
            sent += 1
    await asyncio.to_thread(card.settle)
    stored = hub.stored()
    return {"frames": sent, "durable": stored, "seconds": time.perf_counter() - begin,
            "bytes_per_sample": (hub.written_bytes() - pages) / stored,
            "device_bytes_per_sample": (card.written_bytes() - written) / stored if card.device else None}


async def heard(bluez, hub, count):
    """A strap sends beside them, now and then: it must not become silent."""
    await asyncio.sleep(1)  # the answer that carries the strap's socket goes out alone
    begin, sent = time.perf_counter(), 0
    for number in range(count):
        bluez.hear(number)
        if number % 16 == 0:  # dbus-fast loses its way where a socket is full
            await bluez.settled()
        if number % 5000 == 0:
            next(iter(bluez.pipes.values())).send(frame(sent))
            sent += 1
    await bluez.settled()
    await until(lambda: hub.stored() >= 2 * sent)
    return {"frames": sent, "addresses": count, "seconds": time.perf_counter() - begin}


async def rest(_bluez, hub, seconds):
    before, begin = hub.cpu_seconds(), time.perf_counter()
    await asyncio.sleep(seconds)
    return {"seconds": time.perf_counter() - begin, "cpu_seconds": hub.cpu_seconds() - before}


async def main(vitalgate, folder, mode, count):
    folder = pathlib.Path(folder)
    for old in folder.glob("live.*"):
        old.unlink()
    (folder / "bus.conf").write_text(POLICY.format(folder), encoding="utf-8")
    (folder / "bus").unlink(missing_ok=True)
    daemon = subprocess.Popen(["dbus-daemon", f"--config-file={folder}/bus.conf", "--nofork", "--print-address"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    card = Card(folder) if mode.startswith("wear") else None
    try:
        address = daemon.stdout.readline().decode().strip()
        bluez = BlueZ({"flood": 1, "crowd": 20, "served": 20, "rest": 0, "heard": 1, "one": 1, "wear-one": 1, "wear-twenty": 20}[mode])
        await bluez.serve(address)
        hub = Hub(vitalgate, card.folder if card else folder, address, served=mode == "served")
        for strap in bluez.addresses:
            hub.adopt(strap)
        begin = time.perf_counter()
        hub.start(hour(folder) if card else None)
        try:
            if bluez.addresses:
                await bluez.listening.wait()
            ready = time.perf_counter() - begin
            if mode == "rest":
                await asyncio.sleep(3)  # it has started
            if mode == "served" and not hub.has_page():
                raise SystemExit("the page is not served")
            if card:
                result = await wear(bluez, hub, count, card)
            else:
                result = await {"flood": flood, "crowd": crowd, "served": crowd, "one": crowd, "rest": rest, "heard": heard}[mode](bluez, hub, count)
            result["peak_bytes"] = hub.peak_bytes()
            result["ready_seconds"] = ready
        finally:
            hub.stop()
        if mode != "rest" and hub.stored() != 2 * result["frames"]:
            raise SystemExit(f"{hub.stored()} samples stored of {result['frames']} frames, two each")
        bluez.bus.disconnect()
        await bluez.bus.wait_for_disconnect()
        print(json.dumps(result))
    finally:
        daemon.kill()
        daemon.wait()
        if card:
            card.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
