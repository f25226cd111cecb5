"""A strap moves its services to other handles while it is read, and says so by Service Changed: it is read on, and nothing that it sent to
who had asked for it is lost or doubled."""
import signal

from bluez import until
from values import heart_rate

SENSORS = 'heart'


def rates(vm):
    return [heart_rate(value) for value in vm.sent('heart', '2A37')]


def lost_links(vm):
    return sum(line.get('event') == 'disconnected' for line in vm.ledger('heart'))


def streams(vm, fact):
    """The strap is read (again), and everything that it sends from now on is stored."""
    before = len(rates(vm))
    vm.check(f'{fact}: the strap is read', until(lambda: len(rates(vm)) > before + 2))
    vm.arrive(f'{fact}: what it sends is stored', 'heartRate', rates(vm)[before:])


def scenario(vm):
    vm.adopt('heart')
    hub = vm.run()
    streams(vm, 'at first')
    links = lost_links(vm)
    for time in (1, 2):
        vm.radio('move heart')
        streams(vm, f'moved, {time}')
    vm.check('over the same link', lost_links(vm) == links)
    vm.radio('silent heart on')
    vm.arrive('all that was sent', 'heartRate', rates(vm))
    vm.check('stops', hub.stop(signal.SIGTERM) == 0)
    vm.only('each once', 'heartRate', rates(vm))
    vm.check_account()
