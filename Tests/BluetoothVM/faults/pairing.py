"""Pairing with a passkey: shown by the sensor, shown by the hub, compared; and a wrong one."""
import dbus
import dbus.service
from bluez import ADAPTER, AGENT, DEVICE, Bluez, Failed, until, wait
from scenario import ADDRESSES

SENSORS = 'cuff'


class Person(dbus.service.Object):
    """Reads the sensor's display from the ledger, and presses what the hub shows on the sensor."""

    def __init__(self, bus, vm):
        super().__init__(bus, '/vitalgate/person')
        self.vm, self.wrong, self.seen = vm, False, []

    def event(self, name):
        return next((line for line in reversed(self.vm.ledger('cuff')) if line.get('event') == name), None)

    @dbus.service.method(AGENT, in_signature='o', out_signature='u')
    def RequestPasskey(self, _device):
        shown = until(lambda: self.event('passkey'))['passkey']
        self.seen.append(('RequestPasskey', shown))
        return dbus.UInt32((int(shown) + self.wrong) % 1_000_000)

    @dbus.service.method(AGENT, in_signature='ouq', out_signature='')
    def DisplayPasskey(self, _device, passkey, _entered):
        self.seen.append(('DisplayPasskey', f'{passkey:06}'))
        self.vm.radio(f'passkey cuff {passkey}')

    @dbus.service.method(AGENT, in_signature='ou', out_signature='')
    def RequestConfirmation(self, _device, passkey):
        self.seen.append(('RequestConfirmation', f'{passkey:06}'))

    @dbus.service.method(AGENT, in_signature='', out_signature='')
    def Cancel(self):
        self.seen.append(('Cancel', ''))


def pair(vm, bluez, person, capability):
    vm.radio(f'pairing cuff {capability}')
    vm.radio('forget cuff')
    person.seen.clear()
    bluez.discover()
    cuff = bluez.find(ADDRESSES['cuff'])
    bluez.stop_discovery()
    bluez.connect(cuff)
    try:
        bluez.call(cuff, DEVICE, 'Pair')
        return cuff, None
    except Failed as problem:
        return cuff, str(problem)


def scenario(vm):
    bluez = Bluez()
    person = Person(bluez.bus, vm)
    bluez.call('/org/bluez', 'org.bluez.AgentManager1', 'RegisterAgent', dbus.ObjectPath('/vitalgate/person'), 'KeyboardDisplay')
    bluez.call('/org/bluez', 'org.bluez.AgentManager1', 'RequestDefaultAgent', dbus.ObjectPath('/vitalgate/person'))
    for capability, question in (('display', 'RequestPasskey'), ('keyboard', 'DisplayPasskey'), ('compare', 'RequestConfirmation')):
        cuff, problem = pair(vm, bluez, person, capability)
        vm.check(f'{capability}: paired', not problem, problem or '')
        vm.check(f'{capability}: {question}', [name for name, _ in person.seen] == [question], person.seen)
        bluez.call(bluez.adapter, ADAPTER, 'RemoveDevice', dbus.ObjectPath(cuff))
        until(lambda: not vm.state('cuff')['connected'])
        wait(0.5)
    person.wrong = True
    cuff, problem = pair(vm, bluez, person, 'display')
    vm.check('a wrong passkey is refused', problem and 'Authentication' in problem, problem)
