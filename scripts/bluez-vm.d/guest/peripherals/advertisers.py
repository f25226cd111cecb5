"""What only advertises: in BTHome version 2 (https://bthome.io/format/), one plain, one encrypted; and scales of Xiaomi and Etekcity."""
import asyncio
import struct

from bumble import crypto

from .formats import date_time
from .peripheral import Advertiser


class BTHome(Advertiser):
    """A thermometer and scale that only advertises: packet id, battery, temperature, humidity, mass, in the clear."""

    address, service_uuid = 'C0:01:02:03:04:07', 0xFCD2

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.number = 0

    def payload(self):
        self.number += 1
        return (b'\x40' + bytes([0x00, self.number % 256, 0x01, 90]) + b'\x02' + struct.pack('<h', 3650 + self.number % 100)
                + b'\x03' + struct.pack('<H', 4500 + self.number % 100) + b'\x06' + struct.pack('<H', 7000 + self.number))


class Sealed(Advertiser):
    """A room sensor whose values are encrypted: temperature and humidity, and a counter that only rises."""

    address, service_uuid = 'C0:01:02:03:04:09', 0xFCD2
    bind_key = bytes.fromhex('231d39c1d7cc1ab1aee224cd096db932')

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.number = 0

    def payload(self):
        self.number += 1
        objects = b'\x02' + struct.pack('<h', 2000 + self.number) + b'\x03' + struct.pack('<H', 5000 + self.number)
        return sealed(self.bind_key, bytes.fromhex(self.address.replace(':', '')), objects, 1000 + self.number)


def sealed(key, address, objects, counter):
    """BTHome's service data, encrypted (https://bthome.io/encryption/): information, ciphertext, counter, tag of 4 octets."""
    information, count = b'\x41', struct.pack('<I', counter)
    text, tag = ccm(key, address + b'\xd2\xfc' + information + count, objects)
    return information + text + count + tag


def ccm(key, nonce, text):
    """AES-CCM with a nonce of 13 octets and a tag of 4 (RFC 3610), of less than 64 KiB."""

    def cipher(block):
        return crypto.e(key[::-1], block[::-1])[::-1]  # Bumble's is the Bluetooth specification's: least significant octet first

    def exclusive_or(left, right):
        return bytes(a ^ b for a, b in zip(left, right))

    mac = cipher(b'\x09' + nonce + struct.pack('>H', len(text)))
    blocks = [text[start:start + 16] for start in range(0, len(text), 16)]
    for block in blocks:
        mac = cipher(exclusive_or(mac, block.ljust(16, b'\0')))
    pads = [cipher(b'\x01' + nonce + struct.pack('>H', number)) for number in range(len(blocks) + 1)]
    return b''.join(map(exclusive_or, blocks, pads[1:])), exclusive_or(mac, pads[0])[:4]


class Weighing(Advertiser):
    """A scale that advertises what it weighs: while somebody stands on it, and the last weighing over and over."""

    period = 1.0

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.number, self.told = 0, None

    def payload(self):
        return self.told or self.form(0, False, 0)

    def form(self, mass, is_stable, impedance):
        """`mass`: in steps of 5 g."""
        raise NotImplementedError

    async def measure(self, count='1'):
        """`measure NAME [COUNT]`: somebody steps on it; done when the last state was advertised for a while."""
        for _ in range(int(count)):
            self.number += 1
            mass = 14000 + 20 * self.number
            for octets in (self.form(mass - 100, False, 0), self.form(mass, True, 0), self.form(mass, True, 500 + self.number)):
                self.told = octets
                self.renew()
                await asyncio.sleep(4)
        return f'record {self.number}'


class MiScale(Weighing):
    """Xiaomi's Mi Body Composition Scale 2."""

    address, service_uuid = 'C0:01:02:03:04:10', 0x181B

    def form(self, mass, is_stable, impedance):
        state = 0x20 * is_stable | 0x02 * (impedance > 0)
        if is_stable and not impedance:
            self.moment = self.now()
        moment = self.moment if is_stable else self.now()
        return bytes([0x02, state]) + date_time(moment) + struct.pack('<HH', impedance, mass)


class Etekcity(Weighing):
    """Etekcity's Fit 8S, which has no clock."""

    address, company = 'C0:01:02:03:04:11', 0x06D0

    def form(self, mass, is_stable, impedance):
        own = bytes.fromhex(self.address.replace(':', ''))[::-1]
        return b'\x01' + own + bytes(3) + (5 * mass).to_bytes(3, 'little') + struct.pack('<HBB3x', impedance, is_stable, 1)
