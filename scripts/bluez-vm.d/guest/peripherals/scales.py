"""Scales that want to be spoken with, or written to, before they tell anything."""
import asyncio
import struct
from datetime import datetime, timezone

from .formats import date_time
from .peripheral import Peripheral, Value, current_time_service


class Users(Peripheral):
    """A scale that keeps each user's weighings until that user consents (User Data Service), as Beurer's do: the weight with time and user, the
    body composition right behind it with neither. It wants a bond. User 1 has the code 2520, user 2 the code 1111. The body composition is all
    zeros until the profile was written back and the increment told."""

    address, appearance, advertised = 'C0:01:02:03:04:0A', 0x0C80, [0x181D, 0x181B, 0x181C]
    model = 'UD-1'
    bonding = True
    codes = {1: 2520, 2: 1111}
    weights = {1: 14000, 2: 11000}  # in steps of 5 g

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.kept, self.number, self.consented, self.is_confirmed = [], 0, None, False
        self.told = asyncio.Lock()

    def control(self, connection, octets):
        user, code = octets[1], int.from_bytes(octets[2:4], 'little')
        holds = octets[0] == 0x02 and self.codes.get(user) == code
        self.consented, self.is_confirmed = (user, connection) if holds else None, False
        asyncio.get_running_loop().create_task(self.answer(octets[0], 0x01 if holds else 0x05))

    async def answer(self, request, value):
        self.record(event='consent', user=self.consented[0] if self.consented else 0)
        await self.send(0x2A9F, bytes([0x20, request, value]))

    def increment(self, _connection, _octets):
        self.is_confirmed = True
        asyncio.get_running_loop().create_task(self.tell())

    async def tell(self):
        """What is kept for the user who has consented: forgotten once it is confirmed."""
        async with self.told:
            while self.consented and (waiting := [one for one in self.kept if one[0] == self.consented[0]]):
                _, number, weight, composition = waiting[0]
                if not await self.send(0x2A9D, weight, record=number) or not await self.send(0x2A9C, composition, record=number):
                    return
                self.kept.remove(waiting[0])

    services = {
        0x181D: [Value(0x2A9D, 'indicate'), Value(0x2A9E, 'read', b'\x07\x00\x00\x00')],
        0x181B: [Value(0x2A9C, 'indicate'), Value(0x2A9B, 'read', b'\xff\x03\x00\x00')],
        0x181C: [Value(0x2A9F, 'write indicate', write=control, encrypted=True),
                 Value(0x2A99, 'read write', b'\x01\x00\x00\x00', write=increment, encrypted=True),
                 Value(0x2A85, 'read write', b'\xc4\x07\x05\x06', encrypted=True),
                 Value(0x2A8C, 'read write', b'\x01', encrypted=True), Value(0x2A8E, 'read write', b'\xaf\x00', encrypted=True)],
        0x1805: current_time_service(),
    }

    async def measure(self, user='1', count='1'):
        """`measure users [USER [COUNT]]`: one of its users steps on it; kept until that user consents."""
        for _ in range(int(count)):
            self.number += 1
            mass = self.weights[int(user)] + 20 * self.number
            weight = b'\x06' + struct.pack('<H', mass) + date_time(self.now()) + bytes([int(user)])
            composition = struct.pack('<HHHH', 0x0210, 200 + self.number, 420, 5000 + self.number)
            self.kept.append((int(user), self.number, weight, composition))
        if self.consented and self.is_confirmed and self.consented[1] in self.device.connections.values():
            await self.tell()
        return f'record {self.number}'


class QN(Peripheral):
    """A scale of QN's make: says what it is, wants three answers, and repeats a final weight until it is told that it was taken."""

    address, appearance, advertised = 'C0:01:02:03:04:0B', 0x0C80, [0xFFF0]
    local_name = 'Fit Plus'
    model = 'QN-1'

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.number, self.answered, self.waiting, self.deaf = 0, set(), None, 0

    @staticmethod
    def summed(octets):
        return octets + bytes([sum(octets) & 0xFF])

    async def subscribed(self, uuid, connection):
        if uuid == 0xFFF1:
            self.answered.clear()
            await self.send(0xFFF1, self.summed(bytes.fromhex('1212ff1122334455661307100001059f32')))

    def told(self, _connection, octets):
        if self.summed(octets[:-1]) != octets:
            return
        self.answered.add(octets[0])
        next_frame = {0x13: '140bff00000100000000', 0x20: '2107ff01612c'}.get(octets[0])
        if next_frame:
            asyncio.get_running_loop().create_task(self.send(0xFFF1, self.summed(bytes.fromhex(next_frame))))
        if octets[0] == 0x1F:
            self.record(event='acknowledged', record=self.number, heard=self.deaf == 0)
            if self.deaf:
                self.deaf -= 1
            else:
                self.waiting = None

    services = {0xFFF0: [Value(0xFFF1, 'notify'), Value(0xFFF2, 'write', write=told)]}

    async def lose(self, count='1'):
        """`lose qn [COUNT]`: so many of the next acknowledgements are not heard."""
        self.deaf = int(count)

    async def measure(self, count='1'):
        """`measure qn [COUNT]`: somebody steps on it; a weight that moves, then the final one, over and over until it is acknowledged."""
        for _ in range(int(count)):
            while 0x22 not in self.answered:
                await asyncio.sleep(0.05)
            self.number += 1
            mass = 8000 + 10 * self.number
            for state in (0, 1):
                await self.send(0xFFF1, self.summed(struct.pack('>BBBBBHHHHB', 0x10, 15, 0xFF, 0xFE, state, mass, 0, 0, 0, 0)))
            self.waiting = self.summed(struct.pack('>BBBBBHHHHB', 0x10, 15, 0xFF, 0xFE, 2, mass, 4350, 4348, 172, 0))
            while self.waiting:
                await self.send(0xFFF1, self.waiting, record=self.number)
                await asyncio.sleep(0.5)
        return f'record {self.number}'


class Yunmai(Peripheral):
    """A Yunmai Mini: told to begin, it says what it weighs, and at the end the resistance with it."""

    address, appearance, advertised = 'C0:01:02:03:04:0E', 0x0C80, [0xFFE0]
    local_name = 'YUNMAI-ISM VM'
    model = 'M1805'

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.number, self.begun = 0, None

    def command(self, connection, octets):
        if octets[:3] == b'\x0d\x05\x13':
            self.begun = connection

    services = {0xFFE0: [Value(0xFFE4, 'notify')], 0xFFE5: [Value(0xFFE9, 'write', write=command)]}

    def frame(self, state, mass, resistance):
        return struct.pack('>BBBB9xHHH', 0x0D, 0x1E, 0, state, mass, resistance, 2200 if state == 2 else 0)

    async def measure(self, count='1'):
        """`measure yunmai [COUNT]`: somebody steps on it, once it was told to begin."""
        for _ in range(int(count)):
            while self.begun not in self.device.connections.values():
                await asyncio.sleep(0.05)
            self.number += 1
            mass = 7000 + 20 * self.number
            await self.send(0xFFE4, self.frame(1, mass - 500, 0))
            await self.send(0xFFE4, self.frame(1, mass, 0))
            for _ in range(2):  # it says the last twice
                await self.send(0xFFE4, self.frame(2, mass, 480 + self.number), record=self.number)
        return f'record {self.number}'


class Renpho(Peripheral):
    """A Renpho ES-26BB: told to begin, it repeats what it weighs; the final weight comes first without the impedance, then with it."""

    address, appearance, advertised = 'C0:01:02:03:04:0F', 0x0C80, [0x1A10]
    local_name = 'ES-26BB-B VM'
    model = 'ES-26BB'

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.number, self.begun = 0, None

    def command(self, connection, octets):
        if octets == bytes.fromhex('55aa9000040100000094'):
            self.begun = connection

    services = {0x1A10: [Value(0x2A10, 'notify'), Value(0x2A11, 'write', write=command)]}

    def frame(self, state, mass, impedance):
        octets = b'\x55\xaa\x14' + struct.pack('>HBIH', 7, state, mass, impedance)
        return octets + bytes([sum(octets) & 0xFF])

    async def measure(self, count='1'):
        """`measure renpho [COUNT]`: somebody steps on it, once it was told to begin."""
        for _ in range(int(count)):
            while self.begun not in self.device.connections.values():
                await asyncio.sleep(0.05)
            self.number += 1
            mass = 8000 + 15 * self.number
            await self.send(0x2A10, self.frame(0x00, mass - 100, 0))
            await self.send(0x2A10, self.frame(0x11, mass, 0), record=self.number)
            await self.send(0x2A10, self.frame(0x10, mass, 0))
            for _ in range(3):
                await self.send(0x2A10, self.frame(0x01, mass, 500 + self.number), record=self.number)
        return f'record {self.number}'


class Beurer(Peripheral):
    """A Beurer BF710: greeted and told the time, it tells a weighing in three parts, each when the one before was taken. It knows one user."""

    address, appearance, advertised = 'C0:01:02:03:04:12', 0x0C80, [0xFFE0]
    local_name = 'BEURER BF710'
    model = 'BF710'

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.number, self.greeted, self.taken, self.deaf = 0, None, set(), 0

    def command(self, connection, octets):
        if octets == b'\xe6\x01':
            asyncio.get_running_loop().create_task(self.send(0xFFE1, b'\xe6\x00'))
        elif octets[0] == 0xE9:
            self.greeted = connection
            self.clock_offset = datetime.fromtimestamp(int.from_bytes(octets[1:5], 'big'), timezone.utc) - datetime.now(timezone.utc)
        elif octets[:2] == b'\xe7\xf1':
            if self.deaf:
                self.deaf -= 1
            else:
                self.taken.add(octets[2:5])

    services = {0xFFE0: [Value(0xFFE1, 'write notify', write=command)]}

    async def tell(self, part, octets):
        """Over and over, until it is taken."""
        self.taken.clear()
        head = bytes([0x59, 3, part])
        while head not in self.taken:
            await self.send(0xFFE1, b'\xe7' + head + octets, record=self.number if part == 3 else None)
            await asyncio.sleep(0.5)

    async def lose(self, count='1'):
        """`lose beurer [COUNT]`: of so many parts it does not hear that they were taken."""
        self.deaf = int(count)

    async def measure(self, count='1'):
        """`measure beurer [COUNT]`: its user steps on it, once it has been greeted."""
        for _ in range(int(count)):
            while self.greeted not in self.device.connections.values():
                await asyncio.sleep(0.05)
            self.number += 1
            mass = 1500 + 2 * self.number  # in steps of 50 g
            for flag in (1, 1, 0):
                await self.send(0xFFE1, struct.pack('>BBBH', 0xE7, 0x58, flag, mass))
            seconds = int(self.now().replace(tzinfo=timezone.utc).timestamp())
            whole = struct.pack('>IHHHHHHHHH', seconds, mass, 430 + self.number, 223, 521, 397, 233, 1815, 2722, 264)
            self.record(event='weighed', record=self.number, hex=whole.hex())
            await self.tell(1, b'\0' + struct.pack('>Q', 101))
            await self.tell(2, whole[:11])
            await self.tell(3, whole[11:])
        return f'record {self.number}'
