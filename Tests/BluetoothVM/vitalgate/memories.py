"""A cuff and a ring that keep what they measured: the cuff takes the hub's key in pairing mode and gives out each record once, the ring each night
once; a second hub run reads what is new and nothing else."""
from bluez import until

SENSORS = 'omron,o2ring'


def systolic(vm):
    return [bytes.fromhex(line['hex'])[1] + 25 for line in vm.ledger('omron') if line.get('event') == 'stored']


def scenario(vm):
    vm.pair('omron')
    vm.adopt('omron', options=('--profile', 'omron-hem-7322t'))
    vm.adopt('o2ring')
    hub = vm.run()
    vm.check('without its pairing mode the cuff is not read', until(lambda: 'hold its Bluetooth button until P blinks' in hub.output()))
    vm.check('and nothing of it was asked', not [line for line in vm.ledger('omron') if line.get('event') == 'asked'])
    vm.radio('pairs omron')
    vm.check('it takes the key', until(lambda: any(line.get('event') == 'key' for line in vm.ledger('omron'))))
    vm.arrive('all four records of its two users', 'bloodPressureSystolic', systolic(vm))
    users = [sample['metadata']['userIndex'] for sample in vm.stored('bloodPressureSystolic')]
    vm.check('with whose they are', sorted(users) == [1, 1, 1, 2], users)
    vm.check('both nights of the ring', until(lambda: len(vm.stored('oxygenSaturation')) == 2 * (40 - 40 // 7)))
    opened = [line['file'] for line in vm.ledger('o2ring') if line.get('event') == 'opened']
    vm.check('each was read once, the older first', opened == sorted(set(opened)) and len(opened) == 2, opened)
    vm.check('stops', hub.stop() == 0)

    vm.radio('measure omron 2')
    night = vm.radio('measure o2ring 14')
    hub = vm.run()
    vm.arrive('the new record', 'bloodPressureSystolic', systolic(vm))
    vm.check('the new night', until(lambda: len(vm.stored('oxygenSaturation')) == 2 * (40 - 40 // 7) + 12))
    opened = [line['file'] for line in vm.ledger('o2ring') if line.get('event') == 'opened']
    vm.check('of the ring nothing else was read', opened[2:] == [night], opened)
    vm.check('stops again', hub.stop() == 0)
    vm.only('each record once', 'bloodPressureSystolic', systolic(vm))
    vm.check_account()
