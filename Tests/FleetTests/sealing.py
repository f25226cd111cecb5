#!/usr/bin/env python3
"""Seals a request and a reply as the pages say, without libsodium: X25519 and ChaCha20-Poly1305 from OpenSSL, BLAKE2b from Python, and HChaCha20 here.

Usage: sealing.py, with Debian's python3-cryptography. It prints the values of SealingTests.swift.
"""
import hashlib
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def raw(key):
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def hchacha20(key, nonce):
    """draft-irtf-cfrg-xchacha, section 2.2."""
    words = list(struct.unpack("<16I", b"expand 32-byte k" + key + nonce))

    def quarter(a, b, c, d):
        for to, other, by, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            words[to] = (words[to] + words[other]) & 0xFFFFFFFF
            word = words[by] ^ words[to]
            words[by] = (word << bits | word >> 32 - bits) & 0xFFFFFFFF

    for _ in range(10):
        for places in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            quarter(*places)
    return struct.pack("<8I", *words[:4], *words[12:])


def encrypted(message, key, nonce):
    return nonce + ChaCha20Poly1305(hchacha20(key, nonce[:16])).encrypt(bytes(4) + nonce[16:], message, None)


# The example of draft-irtf-cfrg-xchacha, section 2.2.1.
assert hchacha20(bytes(range(32)), bytes.fromhex("000000090000004a0000000031415927")).hex() == "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc"

collectors = X25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
one_time = X25519PrivateKey.from_private_bytes(bytes(range(33, 65)))
hub_seed = bytes(range(65, 97))
# RFC 8032, section 5.1.5: the scalar of an Ed25519 key is the first half of this digest.
hub = X25519PrivateKey.from_private_bytes(hashlib.sha512(hub_seed).digest()[:32])
hub_public = raw(Ed25519PrivateKey.from_private_bytes(hub_seed))
other = X25519PublicKey.from_public_bytes(raw(collectors))

parts = [
    b"vitalgate sealing 1", one_time.exchange(other), hub.exchange(other), raw(one_time), hub_public, raw(collectors), b"study", b"store-1"]
digest = hashlib.blake2b(b"".join(bytes([len(part)]) + part for part in parts)).digest()
request = (b"\x02" + hashlib.sha256(raw(collectors)).digest()[:8] + raw(one_time) + hub_public
           + encrypted(b"a request of this hub", digest[:32], bytes(range(100, 124))))
reply = b"\x02" + encrypted(b"the reply to it", digest[32:], bytes(range(130, 154)))
print("collectors", bytes(range(1, 33)).hex(), raw(collectors).hex())
print("hub seed", hub_seed.hex(), hub_public.hex())
print("request", request.hex())
print("reply", reply.hex())
