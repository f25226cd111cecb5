"""A cuff's measurement is in the store before the hub can be killed: BlueZ confirms it by itself, so the cuff need not send it again."""
import signal
import time

from bluez import until
from values import systolic

SENSORS = 'cuff'
LOSES = True  # the hub is killed
# Seconds between the confirmation and the kill. A hub that commits each second loses most of them.
DELAYS = (0.8, 0.6, 0.4) * 8


def start(vm, records):
    """A hub to which the cuff has sent its memory."""
    before = len(vm.sent('cuff', '2A35'))
    hub = vm.run()
    vm.check('the cuff is read', until(lambda: len(vm.sent('cuff', '2A35')) >= before + records))
    vm.arrive('its memory is stored', 'bloodPressureSystolic', map(systolic, vm.records('cuff', '2A35').values()))
    return hub


def scenario(vm):
    vm.pair('cuff')
    vm.adopt('cuff')
    hub = start(vm, 5)
    lost = []
    for number, delay in enumerate(DELAYS, start=6):
        vm.check('a measurement', vm.radio('measure cuff') == f'record {number}')
        vm.check('is confirmed', until(lambda: number in vm.records('cuff', '2A35')))
        time.sleep(delay)
        hub.stop(signal.SIGKILL)
        value = round(systolic(vm.records('cuff', '2A35')[number]), 3)
        if not vm.stored_values('bloodPressureSystolic')[value]:
            lost.append((number, delay))
        hub = start(vm, number)
    vm.check(f'{len(DELAYS)} kills lose none', not lost, lost)
    vm.check('stops', hub.stop() == 0)
    vm.only('each once', 'bloodPressureSystolic', [systolic(octets) for octets in vm.records('cuff', '2A35').values()])
    vm.check_account()
