"""What the sensors sent. One line of JSON per value, written when it is handed to the link (an indication: when its outcome
is known), in the order of sending:

    {"time": 1767225600.123, "device": "heart", "address": "C0:01:02:03:04:01", "characteristic": "2A37", "hex": "16483c03"}

An indication also has "confirmed", true or false. A stored record also has "record", its number: it may be sent more than
once, and a store must hold it once. What happened without a value being sent (a clock set, a record deleted, a link lost)
is a line with "event" and without "hex".
"""
import json
import time

PATH = '/run/radio.sent'
started = time.monotonic()


def log(*what):
    print(f'{time.monotonic() - started:8.3f}', *what, flush=True)


class Ledger:
    def __init__(self, path=PATH):
        self.file = open(path, 'a', buffering=1, encoding='utf-8')

    def write(self, device, address, **what):
        self.file.write(json.dumps({'time': round(what.pop('time', time.time()), 6), 'device': device, 'address': address,
                                    **{key: value for key, value in what.items() if value is not None}}) + '\n')
