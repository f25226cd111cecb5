"""A bonded cuff that keeps its subscription, as the specification wants: it sends as soon as the link is encrypted."""
from bluez import Bluez, Failed, until, wait
from scenario import ADDRESSES

SENSORS = 'cuff'


def scenario(vm):
    vm.radio('remember cuff')
    bluez = Bluez()
    bluez.discover()
    cuff = bluez.find(ADDRESSES['cuff'])
    bluez.stop_discovery()
    bluez.connect(cuff)
    bluez.pair(cuff)
    values = bluez.subscribe(cuff, 0x2A35)
    until(lambda: len(values) >= 5)
    vm.same('stored readings', values, lambda: vm.sent('cuff', '2A35'))

    bluez.disconnect(cuff)
    until(lambda: not vm.state('cuff')['connected'])
    bluez.connect(cuff)
    until(lambda: len(vm.sent('cuff', '2A35')) >= 10)
    wait(1)
    vm.check('sent again on the next connection', len(vm.sent('cuff', '2A35')) == 10, len(vm.sent('cuff', '2A35')))
    vm.same('a client that kept its subscription in BlueZ has them all', values, lambda: vm.sent('cuff', '2A35'))

    # Nobody listens any more, and the cuff was away when that changed.
    bluez.disconnect(cuff)
    until(lambda: not vm.state('cuff')['connected'])
    try:
        bluez.unsubscribe(cuff, 0x2A35)
    except Failed as problem:
        print('StopNotify without a link:', problem)
    bluez.connect(cuff)
    until(lambda: len(vm.sent('cuff', '2A35')) >= 15)
    wait(1)
    confirmed = len(vm.sent('cuff', '2A35')) - 10
    vm.check('BlueZ confirms what nobody listens to', confirmed == 5 and len(values) == 10, f'{confirmed} confirmed, {len(values) - 10} received')
