"""The sensors. One class each: what it is, what it offers, what it sends. The name of the class in lower case is the sensor's."""
import struct
from datetime import timedelta

from .advertisers import BTHome, Etekcity, MiScale, Sealed
from .formats import SFLOAT_NAN, date_time, medical_float, sfloat
from .memories import O2Ring, Omron
from .peripheral import Peripheral, Stream, Value, battery_service, current_time_service, set_clock
from .records import FACING_TIME, SEQUENCE_NUMBER, Record, RecordAccess, Recorder, control_point
from .scales import QN, Beurer, Renpho, Users, Yunmai


class Heart(Peripheral):
    """A chest strap. No two of 1024 measurements in a row are alike: the first RR interval counts up."""

    address, appearance, advertised = 'C0:01:02:03:04:01', 0x0341, [0x180D, 0x180F]
    model = 'HR-1'

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.number, self.beats, self.contact_mode, self.energy_base = 0, 0, 'on', 0

    def measurement(self):
        self.number += 1
        interval = 512 + self.number % 1024
        if self.contact_mode == 'off':  # what a strap on the table sends
            return bytes([0x04, 0])
        beats = self.beats or round(60 * 1024 / interval)
        flags = 0x10 | (0x06 if self.contact_mode == 'on' else 0)
        rate = struct.pack('<B', beats)
        if beats > 255:
            flags, rate = flags | 0x01, struct.pack('<H', beats)
        energy = b''
        if self.number % 10 == 0:  # as the service advises: every tenth
            flags, energy = flags | 0x08, struct.pack('<H', self.number // 10 - self.energy_base)
        intervals = [interval] if self.number % 3 else [interval, interval + 1]
        return bytes([flags]) + rate + energy + b''.join(struct.pack('<H', value) for value in intervals)

    def control(self, _connection, octets):
        if octets == b'\x01':
            self.energy_base = self.number // 10

    services = {
        0x180D: [Value(0x2A37, 'notify'), Value(0x2A38, 'read', b'\x01'), Value(0x2A39, 'write', write=control)],
        0x180F: battery_service(),
    }
    streams = [Stream(0x2A37, 1.0, measurement)]

    async def bpm(self, beats):
        """`bpm heart N`: that heart rate from now on (above 255: 16 bits; 0: what fits the RR intervals)."""
        self.beats = int(beats)

    async def contact(self, mode):
        """`contact heart on|off|unknown`"""
        self.contact_mode = mode


class Thermo(Peripheral):
    """A thermometer: final and intermediate temperatures, with its own time."""

    address, appearance, advertised = 'C0:01:02:03:04:02', 0x0300, [0x1809]
    model = 'HT-1'

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.number, self.fahrenheit = 0, False

    def temperature(self, number):
        tenths = 365 + number % 31
        return medical_float(round(tenths * 1.8 + 320) if self.fahrenheit else tenths, -1)

    def measurement(self):
        self.number += 1
        return bytes([0x06 | self.fahrenheit]) + self.temperature(self.number) + date_time(self.now()) + b'\x02'

    def intermediate(self):
        return bytes([0x00 | self.fahrenheit]) + self.temperature(self.number - 3)

    services = {0x1809: [Value(0x2A1C, 'indicate'), Value(0x2A1D, 'read', b'\x02'), Value(0x2A1E, 'notify'),
                         Value(0x2A21, 'read', b'\x01\x00')]}
    streams = [Stream(0x2A1C, 1.0, measurement), Stream(0x2A1E, 0.5, intermediate)]

    async def unit(self, letter):
        """`unit thermo C|F`"""
        self.fahrenheit = letter == 'F'


class Cuff(Peripheral):
    """A blood pressure cuff. It wants a bond, and sends all it has stored on every connection, oldest first."""

    address, appearance, advertised = 'C0:01:02:03:04:03', 0x0380, [0x1810]
    model = 'BP-1'
    bonding = True

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.readings, self.number = [], 0

    def add(self, moment):
        self.number += 1
        n, systolic, diastolic = self.number, 110 + self.number % 40, 70 + self.number % 20
        mean = round((systolic + 2 * diastolic) / 3)
        status = 0x0004 if n % 4 == 0 else 0
        if n % 5 == 0:  # kilopascals, one decimal
            values = b''.join(sfloat(round(value * 1.33322), -1) for value in (systolic, diastolic)) + sfloat(SFLOAT_NAN)
        else:
            values = sfloat(systolic) + sfloat(diastolic) + sfloat(mean)
        flags = 0x1E | (n % 5 == 0)
        self.readings.append((n, bytes([flags]) + values + date_time(moment) + sfloat(60 + n % 30) + bytes([1 + n % 2])
                              + struct.pack('<H', status)))

    async def subscribed(self, uuid, connection):
        if uuid != 0x2A35:
            return
        if not self.readings:
            for hours in (72, 48, 47, 24, 1):
                self.add(self.now() - timedelta(hours=hours))
        for number, octets in list(self.readings):
            if connection in self.subscribers(0x2A35):
                await self.send(0x2A35, octets, record=number)

    def cuff_pressure(self):
        return b'\x00' + sfloat(40 + self.number % 100) + sfloat(SFLOAT_NAN) * 2

    services = {
        0x1810: [Value(0x2A35, 'indicate'), Value(0x2A36, 'notify'), Value(0x2A49, 'read', b'\x04\x00', encrypted=True),
                 Value(0x2A08, 'read write', lambda sensor: date_time(sensor.now()),
                       lambda sensor, connection, octets: set_clock(sensor, connection, octets + b'\0\0\0'))],
        0x180F: battery_service(),
    }
    streams = [Stream(0x2A36, 0.5, cuff_pressure)]

    async def measure(self, count='1'):
        """`measure cuff [COUNT]`: takes readings; stored, and sent if somebody listens."""
        for _ in range(int(count)):
            self.add(self.now())
            number, octets = self.readings[-1]
            await self.send(0x2A35, octets, record=number)
        return f'record {number}'


class Glucose(Recorder, Peripheral):
    """A glucose meter with 500 records, one in three with a context, and a clock two hours slow. It wants a bond."""

    address, appearance, advertised = 'C0:01:02:03:04:04', 0x0400, [0x1808]
    model = 'GM-1'
    bonding = True

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.clock_offset = timedelta(hours=-2)
        self.next_number = 1
        self.records = []
        self.access = RecordAccess(self, 0x2A18, filters=(SEQUENCE_NUMBER, FACING_TIME))

    async def appear(self):
        if self.next_number == 1:  # not before: the machine's clock is set when it resumes
            newest = self.now().replace(microsecond=0) - timedelta(minutes=30)
            for number in range(1, 501):
                self.records.append(self.make_record(number, newest - timedelta(hours=3 * (500 - number))))
            self.next_number = 501
        await super().appear()

    def make_record(self, number, moment):
        offset = 60 if number % 10 == 0 else 0  # the person moved the clock by an hour
        context = number % 3 == 0
        status = number % 25 == 0
        control = number % 100 == 0  # control solution: not the person's
        flags = 0x02 | (0x01 if offset else 0) | (0x08 if status else 0) | (0x10 if context else 0)
        base = moment - timedelta(minutes=offset)
        octets = bytes([flags]) + struct.pack('<H', number) + date_time(base)
        if offset:
            octets += struct.pack('<h', offset)
        octets += sfloat(70 + number % 180, -5) + bytes([0x4A if control else 0x11])  # kg/L: 70 to 249 mg/dL
        if status:
            octets += struct.pack('<H', 0x0001)
        frames = [(0x2A18, octets)]
        if context:
            meal = 1 + number % 5
            frames.append((0x2A34, bytes([0x03]) + struct.pack('<H', number) + bytes([1 + number % 4])
                           + sfloat(10 + number % 60, -3) + bytes([meal])))
        return Record(number, moment, frames)

    services = {
        0x1808: [Value(0x2A18, 'notify'), Value(0x2A34, 'notify'), Value(0x2A51, 'read', b'\xff\x03'), control_point()],
        0x1805: current_time_service(),
        0x180F: battery_service(),
    }


class Oximeter(Recorder, Peripheral):
    """A pulse oximeter: continuous values, and twelve stored spot-checks."""

    address, appearance, advertised = 'C0:01:02:03:04:05', 0x0C40, [0x1822]
    model = 'PO-1'

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.number, self.next_number, self.records = 0, 1, []
        self.access = RecordAccess(self, 0x2A5E, filters=())

    async def appear(self):
        if self.next_number == 1:
            newest = self.now().replace(microsecond=0) - timedelta(minutes=30)
            for number in range(1, 13):
                self.records.append(self.make_record(number, newest - timedelta(minutes=15 * (12 - number))))
            self.next_number = 13
        await super().appear()

    def make_record(self, number, moment):
        # time, measurement status (fully qualified, from storage), pulse amplitude index
        return Record(number, moment, [(0x2A5E, b'\x0b' + sfloat(900 + number % 100, -1) + sfloat(50 + number % 80)
                                        + date_time(moment) + struct.pack('<H', 0x0300) + sfloat(12 + number % 50, -1))])

    def continuous(self):
        self.number += 1
        saturation, pulse = sfloat(900 + self.number % 100, -1), sfloat(55 + self.number % 60)
        if self.number % 7 == 0:  # the finger is out for a moment
            return b'\x08' + sfloat(SFLOAT_NAN) * 2 + (1 << 11).to_bytes(3, 'little')
        return b'\x14' + saturation + pulse + struct.pack('<H', 0x0100) + sfloat(15, -1)

    services = {
        0x1822: [Value(0x2A5F, 'notify'), Value(0x2A5E, 'indicate'), Value(0x2A60, 'read', b'\x0f\x00\xe0\x03\xff\xff\x00'),
                 control_point()],
        0x180F: battery_service(),
    }
    streams = [Stream(0x2A5F, 1.0, continuous)]

    async def spot(self):
        """`spot oximeter`: a spot-check now, sent and not stored."""
        number, self.next_number = self.next_number, self.next_number + 1
        return f'reached {await self.send(*self.make_record(number, self.now()).frames[0])}'


class Scale(Peripheral):
    """A scale with body composition: one weighing is one value of each, with the same time."""

    address, appearance, advertised = 'C0:01:02:03:04:06', 0x0C80, [0x181D, 0x181B]
    model = 'WS-1'

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.number = 0

    services = {
        0x181D: [Value(0x2A9D, 'indicate'), Value(0x2A9E, 'read', b'\x07\x00\x00\x00')],
        0x181B: [Value(0x2A9C, 'indicate'), Value(0x2A9B, 'read', b'\xff\x03\x00\x00')],
        0x180F: battery_service(),
    }

    async def measure(self, count='1'):
        """`measure scale [COUNT]`: somebody steps on it."""
        for _ in range(int(count)):
            self.number += 1
            n, moment, user = self.number, date_time(self.now()), bytes([1])
            mass = 14000 + 20 * n  # 70 kg and 100 g more each time, in steps of 5 g
            weight = b'\x0e' + struct.pack('<H', mass) + moment + user + struct.pack('<HH', 229 + n % 3, 1750)
            # time, user, basal metabolism, muscle, muscle mass, fat-free mass, water, impedance
            composition = struct.pack('<HH', 0x037E, 200 + n % 100) + moment + user + struct.pack(
                '<HHHHHH', 7000, 420, 6000, 11000, 8000, 5000 + n)
            await self.send(0x2A9D, weight, record=n)
            await self.send(0x2A9C, composition, record=n)
        return f'record {n}'


class CGM(Recorder, Peripheral):
    """A continuous glucose monitor in a session of two hours: a record every five minutes, numbered by the minutes since its start,
    one in four with a trend, the last but one without a value. It wants a bond."""

    address, appearance, advertised = 'C0:01:02:03:04:08', 0x0D00, [0x181F]
    model = 'CG-1'
    bonding = True

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.records, self.begun = [], self.now()
        self.access = RecordAccess(self, 0x2AA7, filters=(SEQUENCE_NUMBER,))  # filter 1: the time offset

    async def appear(self):
        if not self.records:
            self.begun = self.now().replace(microsecond=0) - timedelta(minutes=120)
            for minutes in range(5, 125, 5):
                self.records.append(self.make_record(minutes, self.begun + timedelta(minutes=minutes)))
        await super().appear()

    def make_record(self, number, moment):
        trend = number % 20 == 0
        value = sfloat(SFLOAT_NAN) if number == 115 else sfloat(80 + number % 100)
        octets = bytes([trend]) + value + struct.pack('<H', number) + (sfloat(-15, -1) if trend else b'')
        return Record(number, moment, [(0x2AA7, bytes([len(octets) + 1]) + octets)])

    def session_start(self):
        """With the zone, in quarters of an hour, and no summer time."""
        return date_time(self.begun) + bytes([0, 0])

    services = {
        0x181F: [Value(0x2AA7, 'notify'), Value(0x2AA8, 'read', bytes.fromhex('80800019ffff')),
                 Value(0x2AA9, 'read', bytes.fromhex('7800000000')),
                 Value(0x2AAA, 'read', lambda sensor: sensor.session_start()), Value(0x2AAB, 'read', b'\x50\x01'),
                 control_point()],
        0x180F: battery_service(),
    }

    async def measure(self, count='1'):
        """`measure cgm [COUNT]`: the next five minutes are over; stored, and sent where somebody listens."""
        for _ in range(int(count)):
            number = self.records[-1].number + 5
            record = self.make_record(number, self.begun + timedelta(minutes=number))
            self.records.append(record)
            await self.send(*record.frames[0], record=number)
        return f'record {number}'


SENSORS = {kind.__name__.lower(): kind for kind in (
    Heart, Thermo, Cuff, Glucose, Oximeter, Scale, CGM, BTHome, Sealed, Users, QN, Omron, O2Ring, Yunmai, Renpho, MiScale,
    Etekcity, Beurer)}
for name, kind in SENSORS.items():
    kind.name = name
