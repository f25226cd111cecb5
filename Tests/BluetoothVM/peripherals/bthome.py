"""The BTHome advertiser: service data FCD2 with a packet id, each content seen, nobody can connect."""
from bluez import DEVICE, PROPERTIES, Bluez, Failed, until
from scenario import ADDRESSES

SENSORS = 'bthome'
SERVICE = '0000fcd2-0000-1000-8000-00805f9b34fb'


def scenario(vm):
    bluez = Bluez()
    contents = []

    def changed(_interface, changes, _gone):
        octets = bytes(changes.get('ServiceData', {}).get(SERVICE, b''))
        if octets and octets not in contents[-1:]:
            contents.append(octets)

    bluez.bus.add_signal_receiver(changed, 'PropertiesChanged', PROPERTIES, arg0=DEVICE)
    bluez.discover()
    device = bluez.find(ADDRESSES['bthome'])
    vm.check('discovered', device)
    until(lambda: len(contents) >= 3)
    sent = vm.sent('bthome', 'adv:FCD2')
    # A scan has pauses: what is sent meanwhile is not seen.
    rest = iter(sent)
    vm.check('contents in the order sent, each once', all(content in rest for content in contents), len(contents))
    vm.check('version 2, plain, with packet id', all(value[:2] == b'\x40\x00' for value in contents), contents[-1].hex())
    try:
        bluez.call(device, DEVICE, 'Connect', timeout=5)
        vm.check('nobody can connect', False)
    except Failed:
        vm.check('nobody can connect', True)
