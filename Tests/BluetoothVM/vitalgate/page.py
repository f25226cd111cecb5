"""docs/how-to/bluetooth.md, command by command, as a person without root runs it: what stands there works."""
import os
import pwd
import re
import shutil
import signal
import subprocess

from bluez import until
from scenario import LIMIT, SOURCE

SENSORS = 'heart,cuff,sealed'
PERSON = 'pi'


def blocks():
    """The commands of the page: the lines of each block of shell."""
    page = (SOURCE / 'docs/how-to/bluetooth.md').read_text()
    return [block.splitlines() for block in re.findall(r'^```sh\n(.*?)^```', page, re.MULTILINE | re.DOTALL)]


def as_person(command, **options):
    """A shell of somebody who has just logged in."""
    entry = pwd.getpwnam(PERSON)
    environment = {name: os.environ[name] for name in ('LD_LIBRARY_PATH',) if name in os.environ}
    environment |= {'HOME': entry.pw_dir, 'USER': PERSON, 'LANG': 'C.UTF-8', 'PATH': '/usr/local/bin:/usr/bin:/bin:/usr/sbin'}
    return dict(args=['bash', '-c', command], cwd=entry.pw_dir, env=environment, user=entry.pw_uid, group=entry.pw_gid,
                extra_groups=os.getgrouplist(PERSON, entry.pw_gid), stdin=subprocess.DEVNULL, **options)


class Hub:
    """`vitalgate run`, in a terminal of its own."""

    def __init__(self, vm, command):
        self.vm = vm
        self.process = subprocess.Popen(**as_person(f'exec {command}', stdout=subprocess.DEVNULL, stderr=open('/tmp/hub.log', 'ab')))
        vm.check(command, until(lambda: len(vm.sent('heart', '2A37')) >= 3))

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.vm.check('Ctrl-C', self.process.wait(LIMIT) == 0)


def scenario(vm):
    home = pwd.getpwnam(PERSON).pw_dir
    shutil.copy(vm.vitalgate, f'{home}/vitalgate')
    shutil.copytree(SOURCE / 'DeviceProfiles', f'{home}/DeviceProfiles')
    hub, outputs = None, {}
    for command in [line for block in blocks() for line in block]:
        if command == 'vitalgate run':
            hub = Hub(vm, command)
            continue
        if command == 'vitalgate run --once' and hub:  # as the page says
            hub.stop()
            hub = None
        if command.startswith('vitalgate query'):  # the hub commits once a second
            until(lambda: subprocess.run(**as_person(command, capture_output=True)).stdout.count(b'\n') > 1)
        for _ in range(5):
            done = subprocess.run(**as_person(command, capture_output=True), timeout=LIMIT)
            if done.returncode != 75:  # "try again": not all delivered within a minute, as on a slow machine
                break
        outputs[command] = done.stdout.decode()
        vm.check(command, done.returncode == 0, '\n' + (done.stdout + done.stderr).decode().rstrip())
        if command.startswith('pkill -HUP'):
            vm.check('the hub takes the cuff up', until(lambda: vm.sent('cuff', '2A35')))
    vm.check('the doctor sees the adapter', 'hci0' in outputs['vitalgate doctor'])
    vm.check('the adapter is on', 'Powered: yes' in outputs['bluetoothctl show'])
    vm.check('all three are heard', all(vm.address(name) in outputs['vitalgate scan'] for name in SENSORS.split(',')))
    vm.check('each is listed by its name', 'chest strap' in outputs['vitalgate devices list'])
    vm.check('the person is in the group', 'bluetooth' in subprocess.run(**as_person('id -nG', capture_output=True)).stdout.decode())
    store = subprocess.run(**as_person('stat -c "%a %U" ~/.local/share/vitalgate/store.db', capture_output=True)).stdout.decode().strip()
    vm.check('the store is the person\'s alone', store == f'600 {PERSON}', store)
