#!/usr/bin/env python3
"""Writes the recordings beside it, by the specifications alone and without a line of Vitalgate's: run it here after a change.

    household.btsnoop           datalink 1002, as an Android phone writes it
    household-monitor.btsnoop   datalink 2001, as `btmon -w` writes it: the same packets

All that is in them is invented. Core specification 5.4: vol 4, part E (HCI), vol 3, part A (L2CAP) and part F (ATT); GATT Specification
Supplement for the values. btsnoop: https://fte.com/WebHelpII/sd/Content/Technical_Information/BT_Snoop_File_Format.htm, BlueZ doc/btsnoop.txt.
"""
import datetime
import pathlib
import struct

EPOCH = 0x00DCDDB30F2F8000
START = datetime.datetime(2026, 11, 20, 6, 30, 0, tzinfo=datetime.timezone.utc)

EVENT, SENT, RECEIVED = 3, 4, 5  # the monitor's codes

packets = []  # (µs since 1970, code, octets)
now = int(START.timestamp() * 1_000_000)


def passes(seconds):
    global now
    now += int(seconds * 1_000_000)


def event(code, params):
    packets.append((now, EVENT, bytes([code, len(params)]) + params))


def address(text):
    return bytes.fromhex(text.replace(":", ""))[::-1]


def connected(handle, text, kind=1, enhanced=True):
    head = struct.pack("<BHBB6s", 0, handle, 0, kind, address(text))
    rest = struct.pack("<HHHB", 24, 0, 72, 0)
    event(0x3E, (b"\x0A" + head + bytes(12) + rest) if enhanced else (b"\x01" + head + rest))


def disconnected(handle):
    event(0x05, struct.pack("<BHB", 0, handle, 0x13))


def att(handle, pdu, code=RECEIVED, pieces=None):
    frame = struct.pack("<HH", len(pdu), 4) + pdu
    pieces = pieces or [len(frame)]
    flag = 2 if code == RECEIVED else 0
    for size in pieces:
        part, frame = frame[:size], frame[size:]
        packets.append((now, code, struct.pack("<HH", handle | flag << 12, len(part)) + part))
        flag = 1
    assert not frame


def ask(handle, pdu):
    att(handle, pdu, SENT)


def u16(number):
    return struct.pack("<H", number)


def services(handle, *found):  # (first, last, number)
    ask(handle, b"\x10" + u16(1) + u16(0xFFFF) + u16(0x2800))
    att(handle, b"\x11\x06" + b"".join(u16(a) + u16(b) + u16(c) for a, b, c in found))


def characteristics(handle, *found):  # (value's handle, number)
    ask(handle, b"\x08" + u16(1) + u16(0xFFFF) + u16(0x2803))
    att(handle, b"\x09\x07" + b"".join(u16(h - 1) + b"\x12" + u16(h) + u16(n) for h, n in found))
    ask(handle, b"\x08" + u16(found[-1][0]) + u16(0xFFFF) + u16(0x2803))
    att(handle, b"\x01\x08" + u16(found[-1][0]) + b"\x0A")


def reads(handle, attribute, value):
    ask(handle, b"\x0A" + u16(attribute))
    att(handle, b"\x0B" + value)


def notifies(handle, attribute, value, code=0x1B, pieces=None):
    att(handle, bytes([code]) + u16(attribute) + value, pieces=pieces)


def legacy(text, data, kind=1):
    event(0x3E, b"\x02\x01\x00" + bytes([kind]) + address(text) + bytes([len(data)]) + data + b"\xC8")


def extended(text, data, status, kind=1):
    event(
        0x3E,
        b"\x0D\x01" + u16(status << 5) + bytes([kind]) + address(text) + b"\x01\x00\x00\x7F\xC8" + bytes(2) + bytes(7)
        + bytes([len(data)]) + data)


def service_data(number, data):
    return bytes([len(data) + 3, 0x16]) + u16(number) + data


STRAP, METER, ROOM, NEIGHBOUR = "C0:01:02:03:04:01", "00:1B:DC:03:04:02", "A4:C1:38:03:04:03", "C0:01:02:03:04:09"

# A link that was there before.
notifies(0x20, 0x0012, b"\x00\x50")
# The strap: its address is a static random one.
passes(1)
legacy(STRAP, b"\x02\x01\x06\x03\x03\x0D\x18\x06\x09Strap")
connected(0x40, STRAP)
services(0x40, (0x01, 0x07, 0x1800), (0x10, 0x16, 0x180D), (0x20, 0x2A, 0x180A))
characteristics(0x40, (0x12, 0x2A37), (0x15, 0x2A38), (0x22, 0x2A29), (0x24, 0x2A24))
# The serial number's handle is told by Find Information alone.
ask(0x40, b"\x04" + u16(0x25) + u16(0x2A))
att(0x40, b"\x05\x01" + u16(0x26) + u16(0x2A25) + u16(0x27) + u16(0x2902))
reads(0x40, 0x22, b"Invented")
reads(0x40, 0x24, b"Strap 1")
reads(0x40, 0x26, b"S-0042")
reads(0x40, 0x15, b"\x01")
for rate in range(61, 66):
    passes(1)
    notifies(0x40, 0x12, bytes([0x00, rate]))
# In three pieces; with two beats.
passes(1)
notifies(0x40, 0x12, b"\x10\x42\x00\x04\x9A\x03", pieces=[5, 4, 4])
# A handle of which nothing is known.
notifies(0x40, 0x50, b"\x01")
disconnected(0x40)
# It comes again, and is not asked anything: who connected knows its table.
passes(30)
connected(0x41, STRAP, enhanced=False)
passes(1)
notifies(0x41, 0x12, b"\x00\x43")
disconnected(0x41)

# The meter: its clock is an hour and a minute ahead of UTC. Record 1 has a context, record 2 none.
passes(10)
connected(0x42, METER, kind=0)
services(0x42, (0x10, 0x1A, 0x1808), (0x20, 0x2A, 0x180A), (0x30, 0x32, 0x1805))
characteristics(0x42, (0x12, 0x2A18), (0x15, 0x2A34), (0x18, 0x2A52), (0x26, 0x2A25), (0x31, 0x2A2B))
reads(0x42, 0x26, b"G-7")
shown = datetime.datetime.fromtimestamp(now / 1e6, datetime.timezone.utc) + datetime.timedelta(minutes=61)
reads(0x42, 0x31, u16(shown.year) + bytes([shown.month, shown.day, shown.hour, shown.minute, shown.second, 5, 0, 0]))
ask(0x42, b"\x12" + u16(0x18) + b"\x01\x01")
att(0x42, b"\x13")
# Flags 0x12: concentration in kg/l, a context follows; 2026-11-20 06:01:00 by its clock; SFLOAT 100e-5; type and place.
notifies(0x42, 0x12, b"\x12\x01\x00\xEA\x07\x0B\x14\x06\x01\x00\x64\xB0\x11")
# Flags 0x02: a meal; 1 is before it (preprandial).
notifies(0x42, 0x15, b"\x02\x01\x00\x01")
notifies(0x42, 0x12, b"\x02\x02\x00\xEA\x07\x0B\x14\x06\x0B\x00\x6E\xB0\x11")
notifies(0x42, 0x18, b"\x06\x00\x01\x01", code=0x1D)
disconnected(0x42)

# The room: BTHome, packet 1 twice, then packet 2 as an extended advertisement in two pieces; 25.00 and 25.10 °C.
passes(5)
for _ in range(2):
    legacy(ROOM, service_data(0xFCD2, b"\x40\x00\x01\x02\xC4\x09"), kind=0)
    passes(5)
whole = service_data(0xFCD2, b"\x40\x00\x02\x02\xCE\x09")
extended(ROOM, whole[:4], 1, kind=0)
extended(ROOM, whole[4:], 0, kind=0)
# And somebody who only passes by.
legacy(NEIGHBOUR, service_data(0xFCD2, b"\x40\x00\x01\x02\x10\x27"))
passes(1)


def record(octets, flags, time):
    return struct.pack(">IIIIQ", len(octets), len(octets), flags, 0, time + EPOCH) + octets


uart = {EVENT: (b"\x04", 3), SENT: (b"\x02", 0), RECEIVED: (b"\x02", 1)}
here = pathlib.Path(__file__).parent
phone = b"btsnoop\0" + struct.pack(">II", 1, 1002)
hub = b"btsnoop\0" + struct.pack(">II", 1, 2001)
hub += record(bytes(16), 0, packets[0][0])  # a new controller
for time, code, octets in packets:
    kind, flags = uart[code]
    phone += record(kind + octets, flags, time)
    hub += record(octets, code, time)
(here / "household.btsnoop").write_bytes(phone)
(here / "household-monitor.btsnoop").write_bytes(hub)
