"""What happens to small machines, with a hub at work: a disk that is full and gets room again, a file system that the kernel makes
read-only. What was stored stays, what came meanwhile waits, and every value is there once."""
import pathlib
import signal
import subprocess

from bluez import until
from values import heart_rate

SENSORS = 'heart'
LOSES = True  # the first disk is gone in the end, and what waited for the second when the hub ended was never stored
DISK = pathlib.Path('/tmp/disk')
STORE = f'{DISK}/store.db'


def shell(command):
    subprocess.run(['bash', '-ec', command], check=True)


def rates(vm):
    return [heart_rate(value) for value in vm.sent('heart', '2A37')]


def heard(vm):
    """How many heart rates the hub that runs has recorded."""
    return pathlib.Path(vm.captures[-1][0]).read_text().count('"channel":"gatt:2A37"')


def burst(vm):
    """A thousand values, no faster than the hub hears them: bluetoothd drops what does not fit its socket."""
    for _ in range(10):
        vm.radio('burst heart 100 100')
        if not until(lambda: heard(vm) >= len(rates(vm))):
            return False
    return True


def run(vm):
    return vm.start(*vm.hub_command('run', '--verbose', store=STORE))


def waits(hub, times):
    """The hub has said so often that readings wait."""
    return until(lambda: hub.output().count('readings cannot be stored and are waiting') >= times)


def full(vm):
    """A file system of its own that somebody else fills up."""
    shell(f'mkdir {DISK} && mount -t tmpfs -o size=2m small {DISK}')
    code, _, log = vm.hub('devices', 'adopt', vm.address('heart'), store=STORE)
    vm.check('adopt the strap', code == 0, log)
    hub = run(vm)
    vm.check('it is read', until(lambda: len(vm.stored('heartRate', store=STORE)) >= 3))
    for times in (1, 2):
        shell(f'cat /dev/zero >{DISK}/filler 2>/dev/null || true')
        vm.check('a thousand more are heard', burst(vm))
        vm.check(f'the disk is full ({times}): readings wait', waits(hub, times))
        code, status, _ = vm.hub('status', store=STORE)
        vm.check('the status says so', code == 0 and 'no space left' in status, status)
        (DISK / 'filler').unlink()
        vm.check('there is room, and they are stored', until(lambda: hub.output().count('samples are stored again') >= times))
    vm.radio('silent heart on')
    sent = rates(vm)
    vm.arrive('every heart rate', 'heartRate', sent, store=STORE)
    # bluetoothd 5.66 dies where a program leaves while its AcquireNotify is being answered, and a hub asks again when a strap is silent.
    vm.radio('silent heart off')
    vm.check('it is heard again', until(lambda: len(rates(vm)) > len(sent) + 2))
    vm.check('stops', hub.stop(signal.SIGTERM) == 0)
    vm.radio('silent heart on')
    vm.only('each once', 'heartRate', rates(vm), store=STORE)
    vm.check_account(store=STORE)
    shell(f'umount {DISK}')


def read_only(vm):
    """A file system with an error, which its kernel makes read-only."""
    shell('modprobe loop; truncate -s 16M /tmp/card; mkfs.ext4 -q -F /tmp/card; losetup /dev/loop0 /tmp/card')
    shell(f'mount -t ext4 -o errors=remount-ro /dev/loop0 {DISK}')
    vm.radio('silent heart off')
    code, _, log = vm.hub('devices', 'adopt', vm.address('heart'), store=STORE)
    vm.check('adopt the strap on another store', code == 0, log)
    start = len(rates(vm))
    hub = run(vm)
    vm.check('it is read', until(lambda: len(rates(vm)) >= start + 3))
    vm.radio('silent heart on')
    before = rates(vm)[start:]
    vm.arrive('all is stored', 'heartRate', before, store=STORE)
    shell('echo 1 >/sys/fs/ext4/loop0/trigger_fs_error')
    vm.check('the kernel has made it read-only', until(lambda: subprocess.run(['touch', DISK / 'probe'], capture_output=True).returncode))
    vm.radio('silent heart off')
    vm.check('readings wait', waits(hub, 1), hub.output()[-500:])
    code = hub.stop(signal.SIGTERM)
    vm.check('the hub ends as one that could not store', code == 74, code)
    vm.check('and says why', hub.output().rstrip().splitlines()[-1].startswith('vitalgate: '), hub.output()[-500:])
    shell(f'umount {DISK}; fsck.ext4 -p /dev/loop0 || [ $? = 1 ]; mount -t ext4 /dev/loop0 {DISK}')
    vm.arrive('what was stored is there', 'heartRate', before, store=STORE)
    again, count = run(vm), len(rates(vm))
    vm.check('the next run goes on', until(lambda: len(rates(vm)) >= count + 5))
    vm.radio('silent heart on')
    vm.arrive('and stores what comes', 'heartRate', before + rates(vm)[count:], store=STORE)
    vm.check('stops', again.stop(signal.SIGTERM) == 0)
    vm.only('each at most once', 'heartRate', rates(vm)[start:], store=STORE)
    vm.check_account(store=STORE)


def scenario(vm):
    full(vm)
    read_only(vm)
