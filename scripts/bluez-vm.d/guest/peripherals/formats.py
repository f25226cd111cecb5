"""Numbers and times as the Bluetooth SIG writes them (GATT Specification Supplement; IEEE 11073-20601 for the floats)."""
import struct
from datetime import datetime

SFLOAT_NAN = 0x07FF


def sfloat(mantissa, exponent=0):
    """16 bits: 4 of exponent, 12 of mantissa, both two's complement."""
    assert -2048 <= mantissa <= 2047 and -8 <= exponent <= 7
    return struct.pack('<H', (exponent & 0xF) << 12 | mantissa & 0xFFF)


def medical_float(mantissa, exponent=0):
    """32 bits: 8 of exponent, 24 of mantissa."""
    return struct.pack('<I', (exponent & 0xFF) << 24 | mantissa & 0xFFFFFF)


def date_time(moment: datetime):
    """7 octets of local time, without a zone."""
    return struct.pack('<HBBBBB', moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second)


def current_time(moment: datetime):
    """0x2A2B: date and time, day of week (1 = Monday), 1/256 seconds, reason of the last adjustment."""
    return date_time(moment) + bytes([moment.isoweekday(), moment.microsecond * 256 // 1_000_000, 0])


def read_date_time(octets):
    return datetime(*struct.unpack('<HBBBBB', octets[:7]))
