"""A link that is up and brings nothing: a sensor that forgot its subscriptions, a frozen bluetoothd, a GATT table that moved."""
from bluez import Bluez, Failed, until, wait
from scenario import ADDRESSES

SENSORS = 'heart'


def scenario(vm):
    bluez = Bluez()
    bluez.discover()
    strap = bluez.find(ADDRESSES['heart'])
    bluez.stop_discovery()
    bluez.connect(strap)
    values = bluez.subscribe(strap, 0x2A37)
    until(lambda: values)

    vm.radio('unsubscribe heart')
    until(lambda: len(values) == len(vm.sent('heart', '2A37')))
    count = len(values)
    wait(2)
    vm.check('subscriptions forgotten: link up, nothing comes', bluez.connected(strap) and len(values) == count)
    bluez.unsubscribe(strap, 0x2A37)
    again = bluez.subscribe(strap, 0x2A37)
    vm.check('a new subscription brings them back', until(lambda: again))

    vm.radio('bluetoothd freeze')
    try:
        bluez.call(strap, 'org.freedesktop.DBus.Properties', 'Get', 'org.bluez.Device1', 'Connected', timeout=2)
        vm.check('bluetoothd frozen: no answer', False)
    except Failed as problem:
        vm.check('bluetoothd frozen: no answer', 'NoReply' in str(problem), problem)
    vm.radio('bluetoothd thaw')
    vm.check('thawed', until(lambda: bluez.connected(strap)))

    before = bluez.characteristic(strap, 0x2A37)
    vm.radio('shift heart')
    until(lambda: not bluez.connected(strap))
    bluez.connect(strap)
    vm.check('table moved', until(lambda: bluez.characteristic(strap, 0x2A37) != before), f'{before[-24:]} {bluez.characteristic(strap, 0x2A37)[-24:]}')
    moved = bluez.subscribe(strap, 0x2A37)
    vm.check('values from the new handle', until(lambda: moved))
