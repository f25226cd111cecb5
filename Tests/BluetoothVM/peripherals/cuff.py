"""The blood pressure cuff: nothing without a bond; all stored readings on every connection."""
from bluez import DEVICE, Bluez, until
from scenario import ADDRESSES

SENSORS = 'cuff'


def scenario(vm):
    bluez = Bluez()
    bluez.discover()
    cuff = bluez.find(ADDRESSES['cuff'])
    bluez.stop_discovery()
    bluez.connect(cuff)
    vm.check('not paired yet', not bluez.get(cuff, DEVICE, 'Paired'))
    bluez.pair(cuff)
    vm.check('paired', bluez.get(cuff, DEVICE, 'Paired'))
    vm.check('the sensor has a bond', vm.state('cuff')['bonds'] == 1)
    vm.check('an encrypted read', bluez.read(cuff, 0x2A49) == b'\x04\x00')

    values = bluez.subscribe(cuff, 0x2A35)
    until(lambda: len(values) >= 5)
    vm.same('five stored readings', values, lambda: vm.sent('cuff', '2A35'))
    vm.check('one of them in kPa', sum(value[0] & 1 for value in values) == 1)
    vm.radio('measure cuff')
    until(lambda: len(values) >= 6)
    vm.check('a new one', len(values) == 6, len(values))

    bluez.disconnect(cuff)
    until(lambda: vm.state('cuff')['connected'] == 0)
    bluez.connect(cuff)
    vm.check('all again on the next connection', until(lambda: len(values) >= 12), len(values))
    vm.check('encrypted by the bond', vm.state('cuff')['encrypted'] == [True])
    vm.check('six records in all', len(vm.records('cuff', '2A35')) == 6 and set(vm.records('cuff', '2A35').values()) == set(values))
