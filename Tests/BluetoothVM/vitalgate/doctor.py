"""`vitalgate doctor`: what it says of a radio that works, and of each layer that does not: the kernel's adapter, the switch, bluetoothd."""
import json
import subprocess

from bluez import Bluez, until


def findings(vm):
    """The exit code, and what is broken: (subject, finding), with the command that mends it."""
    code, output, _ = vm.hub('doctor', '--format', 'ndjson')
    lines = [json.loads(line) for line in output.splitlines()]
    return code, {(line['subject'], line['finding']): line['command'] for line in lines if line['state'] == 'broken'}


def broken(vm, fact, subject, word):
    code, found = findings(vm)
    vm.check(fact, code == 69 and any(of == subject and word in finding for of, finding in found), (code, found))
    return found


def scenario(vm):
    bluez = Bluez()
    until(bluez.powered)
    code, found = findings(vm)
    vm.check('nothing is broken', (code, found) == (0, {}), (code, found))

    bluez.power(False)
    found = broken(vm, 'the adapter is off', 'adapter hci0', 'off')
    vm.check('and how to switch it on', 'bluetoothctl power on' in found.values(), found)
    done = subprocess.run(['bluetoothctl', 'power', 'on'], capture_output=True, check=False)
    vm.check('which helps', done.returncode == 0 and until(bluez.powered) and findings(vm)[0] == 0)

    vm.radio('bluetoothd freeze')
    broken(vm, 'bluetoothd is stuck', 'bluetoothd', 'does not respond')
    vm.radio('bluetoothd thaw')
    until(bluez.powered)
    vm.radio('bluetoothd stop')
    _, found = findings(vm)
    vm.check('there is no bluetoothd', {subject for subject, _ in found} == {'bluetoothd'}, found)
    vm.radio('bluetoothd start')
    vm.radio('adapter remove')
    broken(vm, 'the adapter is gone', 'kernel', 'no Bluetooth adapter')
    vm.radio('adapter add')
    until(lambda: findings(vm)[0] == 0)
    vm.check('all is well again', findings(vm)[0] == 0)
