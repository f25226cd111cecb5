"""An oximeter with stored records, a scale with two services, a cuff that wants a bond; bluetoothd restarts and the adapter is pulled
out meanwhile: what was sent and confirmed is in the store, once."""
import signal

from bluez import until, wait
from values import saturation, systolic

SENSORS = 'oximeter,scale,cuff'


def live(vm):
    """The saturations sent continuously so far."""
    return [value for value in map(saturation, vm.sent('oximeter', '2A5F')) if value is not None]


def streams(vm, fact, links):
    """The oximeter is read over its link number `links`, and what it sends over that is stored."""
    ended = until(lambda: sum(line.get('event') == 'disconnected' for line in vm.ledger('oximeter')) >= links - 1)
    before = len(live(vm))
    vm.check(f'{fact}: the oximeter is read', ended and until(lambda: len(live(vm)) > before + 2))
    vm.arrive(f'{fact}: its values are stored', 'oxygenSaturation', live(vm)[before:], origin='receipt')


def scenario(vm):
    vm.pair('cuff')
    vm.adopt('oximeter', 'scale', 'cuff')
    hub = vm.run()
    vm.check('records of the oximeter', until(lambda: 'stored records collected' in hub.output()))
    vm.check('the scale is read', until(lambda: {'2A9C', '2A9D'} <= set(vm.state('scale')['subscribed'])))
    vm.radio('measure scale 3')
    vm.check('the cuff is read', until(lambda: len(vm.sent('cuff', '2A35')) >= 5))
    streams(vm, 'at first', 1)

    # In the middle of the stream: what was stored before stays, and what is on its way at that moment may be lost on the air.
    vm.radio('bluetoothd restart')
    streams(vm, 'after a restart of bluetoothd', 2)
    vm.radio('adapter remove')
    wait(2)
    vm.radio('adapter add')
    streams(vm, 'after the adapter came back', 3)
    # Nobody knows the oximeter's clock: its records wait until a measurement of just now shows that it is right.
    held = {entry['rule'] for entry in vm.quarantined()}
    vm.check('its stored spot-checks are held', held == {'clock-unknown'} and not vm.stored_values('oxygenSaturation', origin='device'), held)
    vm.check('a spot-check now', vm.radio('spot oximeter') == 'reached True')
    vm.radio('silent oximeter on')
    vm.arrive('stored spot-checks', 'oxygenSaturation', map(saturation, vm.records('oximeter', '2A5E').values()), origin='device')
    vm.arrive('blood pressures', 'bloodPressureSystolic', map(systolic, vm.records('cuff', '2A35').values()))
    vm.arrive('weighings', 'bodyMass', [int.from_bytes(value[1:3], 'little') * 0.005 for value in vm.records('scale', '2A9D').values()])
    vm.check('stops', hub.stop(signal.SIGTERM) == 0)

    vm.only('live values at most once', 'oxygenSaturation', live(vm), origin='receipt')
    stored = {kind: len(vm.stored(kind)) for kind in ('bloodPressureSystolic', 'bodyMass', 'bodyFatPercentage')}
    vm.check('blood pressures and weighings once', list(stored.values()) == [5, 3, 3], stored)
    vm.check('spot-checks once', sum(vm.stored_values('oxygenSaturation', origin='device').values()) == 13)
    vm.check_account(held=36)  # twelve, each with a pulse and a perfusion index
