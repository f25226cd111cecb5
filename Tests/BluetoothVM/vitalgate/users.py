"""A scale that tells each user's weighings to who consents: two people, each their own, though a hub is killed in between; and what a wrong code says."""
import signal

from bluez import until
from scenario import ADDRESSES

SENSORS = 'users'
LOSES = True  # a hub is killed half way


def weight(octets):
    return round(int.from_bytes(octets[1:3], 'little') * 0.005, 3)


def scenario(vm):
    vm.check('Anna', vm.hub('subjects', 'add', 'Anna')[0] == 0)
    vm.pair('users')
    vm.adopt('users', options=('--name', 'scale'))
    vm.check('a code that is another one', vm.hub('devices', 'assign', 'scale', '--person', 'me', '--user', '1', '--consent', '1')[0] == 0)
    vm.radio('measure users 1 2')
    vm.radio('measure users 2 1')

    hub = vm.run()
    vm.check('is refused', until(lambda: 'rejects the consent code of user 1' in hub.output()))
    vm.check('and tells nothing', not vm.sent('users', '2A9D') and '2520' not in hub.output())
    hub.stop(signal.SIGKILL)

    for who, user, code in (('me', '1', '2520'), ('Anna', '2', '1111')):
        vm.check(f'{who} consents', vm.hub('devices', 'assign', 'scale', '--person', who, '--user', user, '--consent', code)[0] == 0)
    vm.radio('drop users')  # BlueZ keeps the link of a hub that was killed
    hub = vm.run()
    vm.check('all three are told', until(lambda: len(vm.sent('users', '2A9C')) == 3))
    vm.radio('measure users 2 1')
    vm.check('and the one taken now', until(lambda: len(vm.sent('users', '2A9C')) == 4))
    vm.radio('silent users on')
    sent = {number: octets for number, octets in vm.records('users', '2A9D').items()}
    vm.arrive('every weight', 'bodyMass', [weight(octets) for octets in sent.values()])
    vm.check('stops', hub.stop() == 0)
    vm.only('each once', 'bodyMass', [weight(octets) for octets in sent.values()])
    mine = sorted(sample['value'] for sample in vm.stored('bodyMass') if sample['subject'] == 'me')
    vm.check('the first two are mine, the others Anna\'s', mine == sorted(weight(o) for o in sent.values() if o[10] == 1) and len(mine) == 2, mine)
    impedance = vm.stored('bodyImpedance')
    vm.check('what was measured through the body is of the same person and time',
             sorted((s['subject'], s['start']) for s in impedance) == sorted((s['subject'], s['start']) for s in vm.stored('bodyMass')))
    vm.check('everybody consented', {line['user'] for line in vm.ledger('users') if line.get('event') == 'consent'} == {0, 1, 2}, ADDRESSES['users'])
    vm.check_account()
