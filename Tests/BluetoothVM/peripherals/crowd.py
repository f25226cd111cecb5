"""Ten straps at once: all connected, all values arrive, none of another's."""
import json

from bluez import Bluez, until, wait

SENSORS = ''


def scenario(vm):
    vm.radio('clone heart 9')
    names = [name for name in json.loads(vm.radio('state')) if name.startswith('heart')]
    vm.check('ten', len(names) == 10, names[-1])
    vm.radio(f'appear {",".join(names)}')
    bluez = Bluez()
    bluez.discover()
    paths = [bluez.find(vm.state(name)['address']) for name in names]
    bluez.stop_discovery()
    vm.check('discovered', all(paths))
    values = {}
    for name, path in zip(names, paths):
        bluez.connect(path)
        values[name] = bluez.subscribe(path, 0x2A37)
    vm.check('all connected', all(bluez.connected(path) for path in paths))
    wait(5)
    for name in names:
        until(lambda: len(values[name]) >= len(vm.sent(name, '2A37')))
        vm.same(name, values[name], lambda: vm.sent(name, '2A37')[:len(values[name])])
