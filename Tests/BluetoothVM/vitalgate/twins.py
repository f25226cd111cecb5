"""Two straps of one maker with one serial number: that their readings go by one key is said, a person parts them, and from then on they
are two devices."""
import json
import signal

from bluez import until
from values import heart_rate

SENSORS = ''
TWINS = ('heart', 'heart-2')


def keys(vm):
    """How many samples each device key has."""
    found = {}
    for sample in vm.stored('heartRate'):
        found[sample['device']['key']] = found.get(sample['device']['key'], 0) + 1
    return found


def read(vm, fact):
    """Both are read (again)."""
    for name in TWINS:
        before = len(vm.sent(name, '2A37'))
        vm.check(f'{fact}: {name} is read', until(lambda: len(vm.sent(name, '2A37')) > before + 2))


def scenario(vm):
    vm.radio('clone heart 1')
    vm.radio(f'appear {",".join(TWINS)}')
    vm.adopt(*TWINS)
    hub = vm.run()
    read(vm, 'as one')
    vm.check('said', until(lambda: 'in range reports the same identity' in hub.output()))
    vm.check('said once', hub.output().count('in range reports the same identity') == 1)
    one = until(lambda: keys(vm))
    vm.check('one key for both', len(one) == 1, one)

    code, _, log = vm.hub('devices', 'part', vm.address('heart-2'))
    vm.check('part them', code == 0, log)
    hub.process.send_signal(signal.SIGHUP)
    vm.check('two keys', until(lambda: len(keys(vm)) == 2), keys(vm))
    read(vm, 'as two')
    vm.radio(f'silent {",".join(TWINS)} on')
    sent = [heart_rate(value) for name in TWINS for value in vm.sent(name, '2A37')]
    vm.arrive('all that was sent', 'heartRate', sent)
    vm.check('stops', hub.stop(signal.SIGTERM) == 0)
    vm.only('each once', 'heartRate', sent)
    code, out, log = vm.hub('devices', 'list', '--format', 'ndjson')
    shown = {line['key'] for line in map(json.loads, out.splitlines())}
    vm.check('the list tells them apart', len(shown) == 2, shown)
    vm.check_account()
