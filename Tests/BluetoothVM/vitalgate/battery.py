"""The battery of a strap that was adopted for its heart rate alone is read once for each connection, and stored once for each time it is told."""
import signal

from bluez import until

SENSORS = 'heart'


def levels(vm):
    return vm.stored('batteryLevel')


def scenario(vm):
    vm.adopt('heart', options=('--profile', 'sig-heart-rate'))
    hub = vm.run()
    for count in range(1, 4):
        vm.check(f'connection {count}: a level', until(lambda: len(levels(vm)) >= count))
        sent = len(vm.sent('heart', '2A37'))
        vm.check(f'connection {count}: beats', until(lambda: len(vm.sent('heart', '2A37')) > sent + 3))
        if count < 3:
            vm.radio('drop heart')
    vm.radio('battery heart 41')
    vm.check('a level that the strap sends', until(lambda: len(levels(vm)) >= 4))
    vm.radio('silent heart on')
    vm.check('stops', hub.stop(signal.SIGTERM) == 0)
    vm.check('once for each time', len(levels(vm)) == 4, levels(vm))
    vm.check_account()
