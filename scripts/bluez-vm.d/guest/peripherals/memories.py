"""Devices that keep measurements in a memory of their own and give them out piece by piece: Omron's cuffs and Viatom's rings."""
import asyncio
import json
import struct
from datetime import timedelta

from .formats import date_time
from .peripheral import Peripheral, Value

OMRON = 'ECBE3980-C9A2-11E1-B1BD-0002A5D5C51B'
OMRON_UNLOCK = 'B305B680-AEE7-11E1-A730-0002A5D5C51B'
OMRON_REQUESTS = 'DB5B55E0-AEE7-11E1-965E-0002A5D5C51B'
OMRON_ANSWERS = ['49123040-AEE8-11E1-A74D-0002A5D5C51B', '4D0BF320-AEE8-11E1-A0D9-0002A5D5C51B',
                 '5128CE60-AEE8-11E1-B84B-0002A5D5C51B', '560F1420-AEE8-11E1-8184-0002A5D5C51B']
RING = '14839AC4-7D7E-415C-9A42-167340CF2339'
RING_ANSWERS = '0734594A-A8E7-4B1A-A6B1-CD5243059A57'
RING_REQUESTS = '8B00ACE7-EB0B-49B0-BBE9-9AEE0A26E1A3'


class Omron(Peripheral):
    """A HEM-7322T, as omblepy found it: two users' records in an EEPROM, given out to who has the key that it was told in pairing mode. It
    wants a bond. Users begin with three records and one."""

    address, appearance = 'C0:01:02:03:04:0C', 0x0380
    model = 'HEM-7322T'
    bonding = True
    users, places, size = {1: 0x02AC, 2: 0x0824}, 100, 14
    index, clock_place = 0x0260, 0x0276

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.octets = bytearray(b'\xff' * 0x0E00)
        self.octets[self.index:self.index + 8] = bytes(8)
        self.count, self.key, self.is_pairing, self.is_unlocked = {1: 0, 2: 0}, None, False, None

    async def appear(self):
        if not self.count[1]:  # not before: the machine's clock is set when it resumes
            for user, hours in ((1, 72), (1, 48), (2, 24), (1, 1)):
                self.store(user, self.now() - timedelta(hours=hours))
        await super().appear()

    def store(self, user, moment):
        number = sum(self.count.values()) + 1
        high = 70 + number % 20 << 24 | 110 + number % 40 - 25 << 16 | moment.year - 2000 << 8 | 60 + number % 30
        day = (number % 4 == 0) << 14 | moment.month << 10 | moment.day << 5 | moment.hour
        record = struct.pack('>IHH', high, day, moment.minute << 6 | moment.second) + bytes(6)
        place = self.users[user] + self.count[user] % self.places * self.size
        self.octets[place:place + self.size] = record
        self.count[user] += 1
        self.octets[self.index + 2 * user - 1] = self.count[user] % self.places
        self.record(event='stored', user=user, record=number, hex=record.hex())
        return number

    def unlock(self, connection, octets):
        kind, key = octets[0], octets[1:17]
        if kind == 0x01:
            self.is_unlocked = connection if key == self.key else None
            answer = bytes([0x81, 0x00 if self.is_unlocked else 0x0F])
        elif kind == 0x02:
            answer = bytes([0x82, 0x00 if self.is_pairing else 0x0F])
        else:
            if self.is_pairing:
                self.key, self.is_pairing, self.is_unlocked = key, False, connection
                self.record(event='key')
            answer = bytes([0x80, 0x00 if self.is_unlocked else 0x0F])
        asyncio.get_running_loop().create_task(self.send(OMRON_UNLOCK, answer))

    def request(self, connection, octets):
        total = 0
        for octet in octets:
            total ^= octet
        if total or len(octets) != 8 or connection is not self.is_unlocked:
            return
        if octets[1] == 0x01:
            place, count = int.from_bytes(octets[3:5], 'big'), octets[5]
            self.record(event='asked', place=place, count=count)
            moment = self.now()
            self.octets[self.clock_place:self.clock_place + 6] = bytes(
                [moment.month, moment.year - 2000, moment.hour, moment.day, moment.second, moment.minute])
            answer = b'\x81\x00' + octets[3:6] + self.octets[place:place + count]
        else:
            answer = bytes([0x80 | octets[1], 0x00, 0x00, 0x00, 0x00 if octets[1] else 0x10]) + (b'' if octets[1] else bytes(16))
        answer = bytes([len(answer) + 3]) + answer + b'\x00'
        total = 0
        for octet in answer:
            total ^= octet
        asyncio.get_running_loop().create_task(self.tell(answer + bytes([total])))

    async def tell(self, answer):
        for number, uuid in enumerate(OMRON_ANSWERS):
            if piece := answer[16 * number:16 * number + 16]:
                await self.send(uuid, piece)

    services = {OMRON: [Value(OMRON_UNLOCK, 'write notify', write=unlock), Value(OMRON_REQUESTS, 'write', write=request),
                        *(Value(uuid, 'notify') for uuid in OMRON_ANSWERS)]}

    async def pairs(self):
        """`pairs omron`: somebody holds its Bluetooth button until P blinks; it takes the next key."""
        self.is_pairing = True

    async def measure(self, user='1', count='1'):
        """`measure omron [USER [COUNT]]`: one of its users takes a reading, which it keeps."""
        for _ in range(int(count)):
            number = self.store(int(user), self.now())
        return f'record {number}'


class O2Ring(Peripheral):
    """A ring with two nights in it, each a file: a record every four seconds, one of seven without a finger."""

    address, appearance, local_name = 'C0:01:02:03:04:0D', 0x0C40, 'O2Ring VM'
    model = 'O2Ring'

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.files, self.open, self.heard = {}, b'', b''

    async def appear(self):
        if not self.files:
            for days in (2, 1):
                self.night(self.now().replace(microsecond=0) - timedelta(days=days), 40)
        await super().appear()

    def night(self, start, records):
        size = 40 + 5 * records
        head = b'\x03\x00' + date_time(start) + struct.pack('<IH', size, 4 * records)
        octets = head.ljust(40, b'\0')
        number = 100 * len(self.files)
        for place in range(records):
            number += 1
            octets += b'\xff\xff\xff\0\0' if place % 7 == 6 else struct.pack('<BHBB', 88 + number % 12, 50 + number % 50, number % 4, 0)
        self.files[start.strftime('%Y%m%d%H%M%S')] = octets

    @staticmethod
    def check(octets):
        """CRC-8 of the polynomial 07."""
        value = 0
        for octet in octets:
            value ^= octet
            for _ in range(8):
                value = (value << 1 ^ 0x07 if value & 0x80 else value << 1) & 0xFF
        return value

    def request(self, _connection, octets):
        self.heard = octets if octets[0] == 0xAA else self.heard + octets
        if len(self.heard) < 8 or len(self.heard) != 8 + int.from_bytes(self.heard[5:7], 'little'):
            return
        asked, self.heard = self.heard, b''
        if asked[1] != asked[2] ^ 0xFF or asked[-1] != self.check(asked[:-1]):
            return
        command, block, status, data = asked[1], int.from_bytes(asked[3:5], 'little'), 0, b''
        if command == 0x14:
            data = json.dumps({'Model': '1652', 'CurTIME': self.now().strftime('%Y-%m-%d,%H:%M:%S'),
                               'FileList': ','.join(self.files), 'CurBAT': '80%'}).encode()
        elif command == 0x03:
            name = asked[7:-2].decode()
            self.record(event='opened', file=name)
            self.open = self.files.get(name, b'')
            status, data = (0 if self.open else 9), struct.pack('<I', len(self.open))
        elif command == 0x04:
            data = self.open[200 * block:200 * block + 200]
        answer = struct.pack('<BBBHH', 0x55, status, status ^ 0xFF, block, len(data)) + data
        asyncio.get_running_loop().create_task(self.tell(answer + bytes([self.check(answer)])))

    async def tell(self, answer):
        for start in range(0, len(answer), 20):
            await self.send(RING_ANSWERS, answer[start:start + 20])

    services = {RING: [Value(RING_ANSWERS, 'notify'), Value(RING_REQUESTS, 'write', write=request)]}

    async def measure(self, records='20'):
        """`measure o2ring [RECORDS]`: a night that begins now, and is over."""
        self.night(self.now().replace(microsecond=0), int(records))
        return list(self.files)[-1]
