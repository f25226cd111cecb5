"""A strap goes out of range, drops the link, forgets its subscriptions, falls silent; bluetoothd is killed in the middle of the stream;
another sensor is adopted meanwhile: what was sent over a good link is stored, once."""
import signal

from bluez import until
from values import celsius, heart_rate

SENSORS = 'heart,thermo'


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

    vm.radio('vanish heart')
    until(lambda: not vm.state('heart')['connected'])
    vm.radio('appear heart')
    streams(vm, 'back in range')

    links = lost_links(vm)
    vm.radio('drop heart')
    until(lambda: lost_links(vm) > links)
    streams(vm, 'after a lost link')

    vm.radio('unsubscribe heart')
    streams(vm, 'after it forgot its subscriptions')

    links = lost_links(vm)
    vm.radio('silent heart on')
    vm.check('silent, the link up: a new link', until(lambda: lost_links(vm) > links))
    vm.radio('silent heart off')
    streams(vm, 'after silence')

    links = lost_links(vm)
    vm.radio('bluetoothd kill')
    vm.radio('bluetoothd start')
    until(lambda: lost_links(vm) > links)
    streams(vm, 'after bluetoothd was killed')

    vm.adopt('thermo')
    hub.process.send_signal(signal.SIGHUP)
    vm.check('adopted while the hub runs', until(lambda: len(vm.sent('thermo', '2A1C')) >= 3))
    code, _, log = vm.hub('devices', 'forget', vm.address('heart'))
    vm.check('forget the strap', code == 0, log)
    hub.process.send_signal(signal.SIGHUP)
    vm.check('the hub lets go of it', until(lambda: not vm.state('heart')['connected']))
    vm.radio('silent thermo on')
    temperatures = list(map(celsius, vm.sent('thermo', '2A1C')))
    vm.arrive('every temperature', 'bodyTemperature', temperatures)
    vm.check('stops', hub.stop(signal.SIGTERM) == 0)
    vm.only('each temperature once', 'bodyTemperature', temperatures)
    vm.only('no heart rate more than once', 'heartRate', rates(vm))
    vm.check_account()
