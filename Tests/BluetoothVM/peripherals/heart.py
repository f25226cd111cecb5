"""The strap: Device Information, battery, location, 1 Hz, a burst at 20 Hz, contact, energy, a dropped link."""
from bluez import Bluez, until, wait
from scenario import ADDRESSES

SENSORS = 'heart'


def scenario(vm):
    bluez = Bluez()
    bluez.discover()
    strap = bluez.find(ADDRESSES['heart'])
    vm.check('discovered', strap)
    bluez.stop_discovery()
    bluez.connect(strap)
    vm.check('maker', bluez.read(strap, 0x2A29) == b'Vitalgate')
    vm.check('battery', bluez.read(strap, 0x2A19) == b'\x57')
    vm.check('location', bluez.read(strap, 0x2A38) == b'\x01')

    values = bluez.subscribe(strap, 0x2A37)
    until(lambda: len(values) >= 3)
    vm.same('values at 1 Hz', values, lambda: vm.sent('heart', '2A37')[:len(values)])

    vm.radio('burst heart 100 20')
    until(lambda: len(values) >= 103)
    vm.same('burst of 100 at 20 Hz', values, lambda: vm.sent('heart', '2A37')[:len(values)])
    vm.check('none missing', len(values) >= 103)
    vm.check('energy in one of ten', 0 <= sum(value[0] & 0x08 > 0 for value in values) - len(values) // 10 <= 1)
    vm.check('no two alike', len({bytes(value) for value in values}) == len(values))
    vm.radio('contact heart off')
    vm.radio('burst heart 1')
    vm.check('without contact', until(lambda: values[-1] == b'\x04\x00'))

    vm.radio('silent heart on')
    until(lambda: len(values) == len(vm.sent('heart', '2A37')))
    count = len(values)
    wait(2.5)
    vm.check('silent, link up', len(values) == count and bluez.connected(strap))
    vm.radio('silent heart off')
    vm.check('speaks again', until(lambda: len(values) > count))

    vm.radio('drop heart')
    vm.check('dropped', until(lambda: not bluez.connected(strap)))
    count = len(values)
    bluez.connect(strap)
    vm.check('values after reconnecting, without a new StartNotify', until(lambda: len(values) > count))
    vm.same('all in all', values, lambda: vm.sent('heart', '2A37')[:len(values)])
