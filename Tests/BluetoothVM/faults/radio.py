"""Faults a hub must outlive, as BlueZ shows them: a sensor out of range, bluetoothd restarted and killed, the adapter pulled out."""
import time

from bluez import Bluez, until
from scenario import ADDRESSES

SENSORS = 'heart'


def discovers(bluez):
    bluez.discover()
    return True


def scenario(vm):
    bluez = Bluez()
    bluez.discover()
    strap = bluez.find(ADDRESSES['heart'])
    bluez.connect(strap)
    values = bluez.subscribe(strap, 0x2A37)
    vm.check('values', until(lambda: values))

    vm.radio('vanish heart')
    vm.check('vanished: not connected', until(lambda: not bluez.connected(strap)))
    vm.radio('appear heart')
    bluez.reconnect(strap)
    count = len(values)
    vm.check('back: values', until(lambda: len(values) > count))

    for verb in ('restart', 'kill'):
        vm.radio(f'bluetoothd {verb}')
        if verb == 'kill':
            vm.radio('bluetoothd start')
        vm.check(f'bluetoothd after {verb}: adapter on', until(bluez.powered))
        vm.check(f'bluetoothd after {verb}: the sensor is free again', until(lambda: not vm.state('heart')['connected']))
        # After a kill the kernel still scans for the bluetoothd that is gone: InProgress until it stops.
        started = time.monotonic()
        vm.check(f'bluetoothd after {verb}: discovery', until(lambda: discovers(bluez)), f'after {time.monotonic() - started:.1f} s')
        strap = bluez.find(ADDRESSES['heart'])
        bluez.reconnect(strap)
        values = bluez.subscribe(strap, 0x2A37)
        vm.check(f'bluetoothd after {verb}: values', until(lambda: values))

    vm.radio('adapter remove')
    vm.check('adapter out: no adapter', until(lambda: not bluez.adapter))
    vm.check('adapter out: the sensor is free', vm.state('heart')['connected'] == 0)
    vm.radio('adapter add')
    vm.check('adapter in: there', until(lambda: bluez.adapter), bluez.adapter)
    until(lambda: bluez.powered() or bluez.power())
    vm.check('adapter in: on', until(bluez.powered))
    until(lambda: discovers(bluez))
    strap = bluez.find(ADDRESSES['heart'])
    bluez.reconnect(strap)
    values = bluez.subscribe(strap, 0x2A37)
    vm.check('adapter in: values', until(lambda: values))
