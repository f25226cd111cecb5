"""Scales of five makers, by connection and by advertisement: each weighing is stored once, with its impedance, though it is told over and over, some
of it first without."""
from bluez import until

SENSORS = 'yunmai,renpho,miscale,etekcity,beurer'
# Where the weight stands in what each sent, in which order, what it counts in, kg, and whether it is final.
WEIGHTS = {'yunmai': ('FFE4', 13, 2, 'big', 0.01, lambda octets: octets[3] == 2),
           'renpho': ('2A10', 6, 4, 'big', 0.01, lambda octets: octets[5] & 15 == 1),
           'miscale': ('adv:181B', 11, 2, 'little', 0.005, lambda octets: octets[1] & 0x20),
           'etekcity': ('adv:06D0', 10, 3, 'little', 0.001, lambda octets: octets[15] == 1)}


def weights(vm):
    """What was weighed so far: each weighing once, by the octets that the scales sent."""
    found = [round(int.from_bytes(bytes.fromhex(line['hex'])[4:6], 'big') * 0.05, 3) for line in vm.ledger('beurer') if line.get('event') == 'weighed']
    for name, (channel, start, size, order, step, is_final) in WEIGHTS.items():
        sent = filter(is_final, vm.sent(name, channel))
        found += sorted({round(int.from_bytes(octets[start:start + size], order) * step, 3) for octets in sent})
    return found


def scenario(vm):
    for name in SENSORS.split(','):
        vm.adopt(name)
    hub = vm.run()
    vm.radio('lose beurer 2')
    for name in ('yunmai', 'renpho', 'beurer', 'miscale', 'etekcity'):
        vm.check(f'{name} is weighed on twice', vm.radio(f'measure {name} 2') == 'record 2')
    vm.check('ten weighings were told', len(weights(vm)) == 10, weights(vm))
    vm.arrive('each is stored', 'bodyMass', weights(vm))
    vm.check('with its impedance', until(lambda: len(vm.stored('bodyImpedance')) == 10))
    vm.check('stops', hub.stop() == 0)
    vm.only('each once', 'bodyMass', weights(vm))
    impedances = sorted(sample['value'] for sample in vm.stored('bodyImpedance'))
    vm.check('each impedance once', impedances == sorted([481, 482, 501, 502, 501, 502, 501, 502, 431, 432]), impedances)
    vm.check('Beurer\'s own fat', [sample['value'] for sample in vm.stored('bodyFatPercentage')] == [22.3, 22.3])
    vm.check_account()
