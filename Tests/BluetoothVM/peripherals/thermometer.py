"""The thermometer: indications in degrees Celsius and Fahrenheit, type, intermediate values."""
from bluez import Bluez, until
from scenario import ADDRESSES

SENSORS = 'thermo'


def degrees(value):
    raw = int.from_bytes(value[1:5], 'little')
    mantissa, exponent = raw & 0xFFFFFF, raw >> 24
    return (mantissa - (mantissa >> 23 << 24)) * 10.0 ** (exponent - (exponent >> 7 << 8))


def scenario(vm):
    bluez = Bluez()
    bluez.discover()
    thermometer = bluez.find(ADDRESSES['thermo'])
    bluez.stop_discovery()
    bluez.connect(thermometer)
    vm.check('type', bluez.read(thermometer, 0x2A1D) == b'\x02')
    vm.check('flags', bluez.flags(thermometer, 0x2A1C) == ['indicate'], bluez.flags(thermometer, 0x2A1C))

    values = bluez.subscribe(thermometer, 0x2A1C)
    between = bluez.subscribe(thermometer, 0x2A1E)
    until(lambda: len(values) >= 3)
    vm.check('Celsius', all(value[0] == 0x06 and 36 < degrees(value) < 40 for value in values), [degrees(value) for value in values])
    vm.radio('unit thermo F')
    count = len(values)
    until(lambda: len(values) >= count + 2)
    vm.check('Fahrenheit', values[-1][0] == 0x07 and 97 < degrees(values[-1]) < 104, degrees(values[-1]))
    vm.check('intermediate values', until(lambda: len(between) >= 6) and all(len(value) == 5 for value in between), len(between))
    until(lambda: len(values) == len(vm.sent('thermo', '2A1C')))
    vm.same('every indication once', values, lambda: vm.sent('thermo', '2A1C')[:len(values)])
    vm.check('all confirmed', all(line['confirmed'] for line in vm.ledger('thermo') if line.get('characteristic') == '2A1C'))
