"""Sensors that only advertise, in BTHome version 2 (https://bthome.io/format/): one plain, one encrypted."""
import struct

from bumble import crypto

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
