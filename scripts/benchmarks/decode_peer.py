"""Decodes one heart-rate frame many times with bluetooth-sig and prints the microseconds of one."""

import sys
import time

from bluetooth_sig import BluetoothSIGTranslator

frame, times = bytes.fromhex(sys.argv[1]), int(sys.argv[2])
translator = BluetoothSIGTranslator()
translator.parse_characteristic("2A37", frame)
begin = time.perf_counter()
for _ in range(times):
    translator.parse_characteristic("2A37", frame)
print((time.perf_counter() - begin) / times * 1e6)
