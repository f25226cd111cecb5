"""A sensor that has lost its bond: the link ends with "authentication failure", and Connect says nothing of it."""
import subprocess

from bluez import Bluez, Failed, until, wait
from scenario import ADDRESSES

SENSORS = 'cuff'


def ends(vm):
    return [line['reason'] for line in vm.ledger('cuff') if line.get('event') == 'disconnected']


def scenario(vm):
    bluez = Bluez()
    bluez.discover()
    cuff = bluez.find(ADDRESSES['cuff'])
    bluez.stop_discovery()
    bluez.connect(cuff)
    bluez.pair(cuff)
    bluez.disconnect(cuff)
    until(lambda: not vm.state('cuff')['connected'])
    vm.radio('forget cuff')
    try:
        bluez.connect(cuff)
        vm.check('Connect fails', False)
    except Failed as problem:
        # Or without an answer, where the kernel kills bluetoothd before it gives one.
        vm.check('Connect fails', 'org.bluez.Error.Failed' in str(problem) or 'NoReply' in str(problem), problem)
    vm.check('authentication failure on the link', until(lambda: ends(vm)[-1:] == [5]), ends(vm))
    vm.check('nothing was sent', not vm.sent('cuff', '2A35'))
    wait(2)
    # Not a check: the kernel of Debian 12 may kill bluetoothd here (docs/development/testing-bluetooth.md).
    alive = subprocess.run(['pgrep', '-f', '^/usr/libexec/bluetooth/bluetoothd'], stdout=subprocess.DEVNULL, check=False).returncode == 0
    print('bluetoothd lives on' if alive else 'bluetoothd was killed by the kernel', flush=True)
