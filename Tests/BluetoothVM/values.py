"""What the octets that a sensor sent mean, for comparing them with what is in the store. Written apart from the program, from the
GATT Specification Supplement."""


def signed(raw, bits):
    return raw - (raw >> bits - 1 << bits)


def medical_float(octets):
    """32 bits: a mantissa of 24 and an exponent of 8."""
    raw = int.from_bytes(octets[:4], 'little')
    return signed(raw & 0xFFFFFF, 24) * 10.0 ** signed(raw >> 24, 8)


def sfloat(octets):
    """16 bits: a mantissa of 12 and an exponent of 4; None for "not a number"."""
    raw = int.from_bytes(octets[:2], 'little')
    return None if raw & 0xFFF == 0x7FF else signed(raw & 0xFFF, 12) * 10.0 ** signed(raw >> 12, 4)


def heart_rate(octets):
    return octets[1] | octets[2] << 8 if octets[0] & 1 else octets[1]


def celsius(octets):
    """Of 2A1C."""
    number = medical_float(octets[1:5])
    return (number - 32) / 1.8 if octets[0] & 1 else number


def saturation(octets):
    """Of 2A5F and 2A5E, in per cent; None where the finger was out."""
    return sfloat(octets[1:3])


def systolic(octets):
    """Of 2A35, in mmHg."""
    return sfloat(octets[1:3]) / (0.133322387415 if octets[0] & 1 else 1)


def moment(octets):
    """A date and time of seven octets, as text without a zone."""
    return f'{octets[0] | octets[1] << 8:04}-{octets[2]:02}-{octets[3]:02}T{octets[4]:02}:{octets[5]:02}:{octets[6]:02}'
