"""BlueZ over D-Bus, in few words, for scenarios. Everything waits with the main loop running, so that our own agent and
signal handlers are called meanwhile."""
import time

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib
from scenario import LIMIT, rest

ADAPTER, DEVICE, CHARACTERISTIC = 'org.bluez.Adapter1', 'org.bluez.Device1', 'org.bluez.GattCharacteristic1'
PROPERTIES, MANAGER, AGENT = 'org.freedesktop.DBus.Properties', 'org.freedesktop.DBus.ObjectManager', 'org.bluez.Agent1'

dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
context = GLib.MainContext.default()


class Failed(Exception):
    """A call answered with an error."""


def until(condition, seconds=LIMIT):
    """What the condition returns as soon as that is true; None after the time."""
    limit = time.monotonic() + seconds
    while True:
        asked = time.monotonic()
        try:
            if result := condition():
                return result
        except (Failed, dbus.DBusException):  # an object that is not there yet
            pass
        if time.monotonic() > limit:
            return None
        while context.iteration(False):
            pass
        rest(asked)


def wait(seconds):
    until(lambda: False, seconds)


class Agent(dbus.service.Object):
    """Agrees to everything, as something with neither display nor keys."""

    @dbus.service.method(AGENT, in_signature='', out_signature='')
    def Release(self):
        pass

    @dbus.service.method(AGENT, in_signature='o', out_signature='')
    def RequestAuthorization(self, _device):
        pass

    @dbus.service.method(AGENT, in_signature='os', out_signature='')
    def AuthorizeService(self, _device, _uuid):
        pass

    @dbus.service.method(AGENT, in_signature='ou', out_signature='')
    def RequestConfirmation(self, _device, _passkey):
        pass

    @dbus.service.method(AGENT, in_signature='', out_signature='')
    def Cancel(self):
        pass


class Bluez:
    def __init__(self):
        self.bus = dbus.SystemBus()
        self.agent = None

    def call(self, path, interface, method, *arguments, timeout=LIMIT):
        answers = []
        self.bus.get_object('org.bluez', path, introspect=False).get_dbus_method(method, interface)(
            *arguments, reply_handler=lambda *reply: answers.append((reply, None)),
            error_handler=lambda error: answers.append((None, error)), timeout=timeout)
        until(lambda: answers, timeout + 1)
        reply, error = answers[0] if answers else (None, 'no reply')
        if error:
            raise Failed(f'{method}: {error.get_dbus_name()}: {error.get_dbus_message()}' if hasattr(error, 'get_dbus_name') else error)
        return reply[0] if reply else None

    def get(self, path, interface, name):
        return self.call(path, PROPERTIES, 'Get', interface, name)

    def tree(self):
        return self.call('/', MANAGER, 'GetManagedObjects')

    @property
    def adapter(self):
        return next((path for path, interfaces in self.tree().items() if ADAPTER in interfaces), None)

    def powered(self):
        adapter = self.adapter
        return bool(adapter and self.get(adapter, ADAPTER, 'Powered'))

    def power(self, on=True):
        self.call(self.adapter, PROPERTIES, 'Set', ADAPTER, 'Powered', dbus.Boolean(on, variant_level=1))

    def discover(self):
        wanted = dbus.Dictionary({'Transport': 'le', 'DuplicateData': True}, signature='sv')
        self.call(self.adapter, ADAPTER, 'SetDiscoveryFilter', wanted)
        self.call(self.adapter, ADAPTER, 'StartDiscovery')

    def stop_discovery(self):
        self.call(self.adapter, ADAPTER, 'StopDiscovery')

    def device(self, address):
        path = f'{self.adapter}/dev_{address.replace(":", "_")}'
        return path if path in self.tree() else None

    def find(self, address, seconds=LIMIT):
        return until(lambda: self.device(address), seconds)

    def connect(self, path):
        """Until the services are known."""
        self.call(path, DEVICE, 'Connect')
        if not until(lambda: self.get(path, DEVICE, 'ServicesResolved')):
            raise Failed('services not resolved')

    def reconnect(self, path):
        """After a fault the first tries may fail."""

        def connect():
            self.connect(path)
            return True

        if not until(connect):
            raise Failed('no connection')

    def disconnect(self, path):
        self.call(path, DEVICE, 'Disconnect')

    def connected(self, path):
        return bool(self.get(path, DEVICE, 'Connected'))

    def register_agent(self):
        self.agent = Agent(self.bus, '/vitalgate/agent')
        self.call('/org/bluez', 'org.bluez.AgentManager1', 'RegisterAgent', dbus.ObjectPath('/vitalgate/agent'), 'NoInputNoOutput')
        self.call('/org/bluez', 'org.bluez.AgentManager1', 'RequestDefaultAgent', dbus.ObjectPath('/vitalgate/agent'))

    def pair(self, path):
        if not self.agent:
            self.register_agent()
        self.call(path, DEVICE, 'Pair')

    def characteristic(self, path, uuid):
        wanted = f'0000{uuid:04x}-0000-1000-8000-00805f9b34fb'
        for candidate, interfaces in self.tree().items():
            if candidate.startswith(path + '/') and interfaces.get(CHARACTERISTIC, {}).get('UUID') == wanted:
                return candidate
        raise Failed(f'no characteristic {uuid:04X}')

    def flags(self, path, uuid):
        return [str(flag) for flag in self.get(self.characteristic(path, uuid), CHARACTERISTIC, 'Flags')]

    def read(self, path, uuid):
        return bytes(self.call(self.characteristic(path, uuid), CHARACTERISTIC, 'ReadValue', dbus.Dictionary({}, signature='sv')))

    def write(self, path, uuid, octets):
        self.call(self.characteristic(path, uuid), CHARACTERISTIC, 'WriteValue', dbus.Array(octets, signature='y'),
                  dbus.Dictionary({'type': 'request'}, signature='sv'))

    def subscribe(self, path, uuid):
        """A list that grows with the values (octets)."""
        characteristic, values = self.characteristic(path, uuid), []

        def changed(_interface, changes, _gone):
            if 'Value' in changes:
                values.append(bytes(changes['Value']))

        self.bus.add_signal_receiver(changed, 'PropertiesChanged', PROPERTIES, path=characteristic)
        self.call(characteristic, CHARACTERISTIC, 'StartNotify')
        return values

    def unsubscribe(self, path, uuid):
        self.call(self.characteristic(path, uuid), CHARACTERISTIC, 'StopNotify')
