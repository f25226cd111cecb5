"""The pulse oximeter: continuous values at 1 Hz, spot-checks, stored ones over RACP."""
from bluez import Bluez, until
from scenario import ADDRESSES

SENSORS = 'oximeter'


def scenario(vm):
    bluez = Bluez()
    bluez.discover()
    oximeter = bluez.find(ADDRESSES['oximeter'])
    bluez.stop_discovery()
    bluez.connect(oximeter)
    values = bluez.subscribe(oximeter, 0x2A5F)
    spots = bluez.subscribe(oximeter, 0x2A5E)
    answers = bluez.subscribe(oximeter, 0x2A52)
    until(lambda: len(values) >= 3)
    vm.same('continuous', values, lambda: vm.sent('oximeter', '2A5F')[:len(values)])
    vm.check('reached', vm.radio('spot oximeter') == 'reached True' and until(lambda: spots))
    bluez.write(oximeter, 0x2A52, b'\x04\x01')
    vm.check('count', until(lambda: answers) and answers[-1] == b'\x05\x00\x0c\x00', answers)
    bluez.write(oximeter, 0x2A52, b'\x01\x01')
    vm.check('report all', until(lambda: answers[1:]) and answers[-1] == b'\x06\x00\x01\x01', answers)
    vm.same('every spot-check once', spots, lambda: vm.sent('oximeter', '2A5E'))
    vm.check('thirteen', len(spots) == 13)
