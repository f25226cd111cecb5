"""What every sensor does: services, streams of values, and the faults a test can ask for."""
import asyncio
import struct
import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Callable

from bumble import att, core, hci, ll
from bumble.controller import Controller
from bumble.device import Device, DeviceConfiguration
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.host import Host
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

from .formats import current_time, read_date_time
from .ledger import log

SERVICE_DATA_16 = core.AdvertisingData.SERVICE_DATA_16_BIT_UUID
CCCD = core.UUID.from_16_bits(0x2902)
SERVICE_CHANGED = core.UUID.from_16_bits(0x2A05)


def uuid_of(number):
    """Of 16 bits as a number, of 128 as text."""
    return core.UUID(number) if isinstance(number, str) else core.UUID.from_16_bits(number)


def text_of(number):
    """As it stands in the ledger."""
    return number if isinstance(number, str) else f'{number:04X}'


GENERIC = [core.UUID.from_16_bits(uuid) for uuid in (0x1800, 0x1801)]


@dataclass
class Value:
    """One characteristic. `uuid`: of 16 bits a number, of 128 a text; `value`: octets, or a function of the sensor; `write`: called with the
    sensor and the octets."""

    uuid: int | str
    properties: str
    value: bytes | Callable[[Any], bytes] | None = None
    write: Callable[[Any, Any, bytes], Any] | None = None
    encrypted: bool = False


@dataclass
class Stream:
    """Values sent by themselves, every `period` seconds, to who has subscribed."""

    uuid: int
    period: float
    make: Callable[[Any], bytes | None]


class Keys(PairingDelegate):
    """The sensor's side of pairing: a passkey it shows is written to the ledger, one it asks for is what `passkey` said."""

    def __init__(self, sensor, capability):
        super().__init__(io_capability=capability)
        self.sensor = sensor

    async def display_number(self, number, digits):
        self.sensor.record(event='passkey', passkey=f'{number:0{digits}}')

    async def compare_numbers(self, number, digits):
        self.sensor.record(event='comparison', passkey=f'{number:0{digits}}')
        return True

    async def get_number(self):
        self.sensor.record(event='passkey-wanted')
        return await self.sensor.entered


PAIRING = {
    'none': PairingDelegate.NO_OUTPUT_NO_INPUT,  # just works
    'display': PairingDelegate.DISPLAY_OUTPUT_ONLY,  # the person types on the hub what the sensor shows
    'keyboard': PairingDelegate.KEYBOARD_INPUT_ONLY,  # the person types on the sensor what the hub shows
    'compare': PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT,
}


class Neighbour:
    """Something on the air with a name."""

    name = ''
    address = ''

    def __init__(self, link, ledger):
        self.link, self.ledger = link, ledger
        self.on_air = False
        self.silent = False
        self.clock_offset = timedelta()

    def now(self):
        """The sensor's own clock: UTC, off by what `clock` said."""
        return datetime.now(timezone.utc).replace(tzinfo=None) + self.clock_offset

    def record(self, **what):
        self.ledger.write(self.name, self.address, **what)


class Peripheral(Neighbour):
    """A sensor to connect to. Subclasses say what it has; see the catalogue."""

    appearance = 0
    advertised: list[int] = []
    services: dict[int | str, list[Value]] = {}
    streams: list[Stream] = []
    local_name = ''  # else VM and the sensor's
    maker, model, firmware, serial = 'Vitalgate', 'V-0', '1.0.0', '0001'
    bonding = False  # subscriptions need an encrypted, bonded link

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.rates = {stream.uuid: 1 / stream.period for stream in self.streams}
        self.drop_after = self.drop_after_uuid = None
        self.under_way = 0
        self.remembered = None
        self.capability, self.entered = 'none', None
        self.battery_level = 87
        self.controller = Controller(f'c-{self.name}', link=link, public_address='00:00:00:00:00:00')
        host = Host()
        host.controller = self.controller
        self.device = Device(host=host, config=DeviceConfiguration(
            name=self.local_name or f'VM {self.name}', address=hci.Address(self.address, hci.Address.RANDOM_DEVICE_ADDRESS),
            advertising_interval_min=200, advertising_interval_max=200))
        self.device.keystore = MemoryKeyStore()
        self.device.pairing_config_factory = lambda _connection: PairingConfig(
            sc=True, mitm=self.capability != 'none', bonding=True, delegate=Keys(self, PAIRING[self.capability]))
        self.device.advertising_data = bytes(core.AdvertisingData([
            (core.AdvertisingData.FLAGS, bytes([0x06])),
            *([(core.AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS,
                b''.join(struct.pack('<H', uuid) for uuid in self.advertised))] if self.advertised else []),
            (core.AdvertisingData.APPEARANCE, struct.pack('<H', self.appearance)),
            (core.AdvertisingData.COMPLETE_LOCAL_NAME, (self.local_name or f'VM {self.name}').encode()),
        ]))
        self.characteristics: dict[int | str, Characteristic] = {}
        self.device.add_services(self._services())
        self.secure(self.bonding)
        self.device.on('connection', self._connected)

    # ---- the attribute database

    def _services(self):
        text = {0x2A29: self.maker, 0x2A24: self.model, 0x2A25: self.serial, 0x2A26: self.firmware}
        every = dict(self.services)
        every[0x180A] = [Value(uuid, 'read', value.encode()) for uuid, value in text.items()]
        return [Service(uuid_of(uuid), [self._characteristic(value) for value in values])
                for uuid, values in every.items()]

    def _characteristic(self, spec):
        properties, permissions = Characteristic.Properties(0), Characteristic.Permissions(0)
        for word in spec.properties.split():
            properties |= Characteristic.Properties[word.upper()]
            if word in ('read', 'write'):
                permissions |= Characteristic.Permissions[f'{word.upper()}ABLE']
        if spec.encrypted:
            permissions |= Characteristic.READ_REQUIRES_ENCRYPTION | Characteristic.WRITE_REQUIRES_ENCRYPTION
        value = CharacteristicValue(
            read=lambda _connection: spec.value(self) if callable(spec.value) else spec.value or b'',
            write=lambda connection, octets: self._written(spec, connection, octets))
        made = Characteristic(uuid_of(spec.uuid), properties, permissions, value)
        made.on(made.EVENT_SUBSCRIPTION, lambda connection, notify, indicate:
                self._subscribed(spec.uuid, connection, notify, indicate))
        self.characteristics[spec.uuid] = made
        return made

    def _written(self, spec, connection, octets):
        log(self.name, f'{text_of(spec.uuid)} written:', octets.hex())
        return spec.write(self, connection, bytes(octets)) if spec.write else None

    def secure(self, on):
        """Whether subscribing to measurements and the control point need an encrypted link, and so a bond. What BlueZ subscribes
        to by itself (Service Changed, battery) stays open, lest connecting alone start a pairing."""
        flag, owner = Characteristic.WRITE_REQUIRES_ENCRYPTION, None
        mine = [self.characteristics[value.uuid] for values in self.services.values() for value in values if value.uuid != 0x2A19]
        for attribute in self.device.gatt_server.attributes:
            owner = attribute if isinstance(attribute, Characteristic) else owner
            if owner in mine and (attribute.type == CCCD or attribute is self.characteristics.get(0x2A52)):
                attribute.permissions = attribute.permissions | flag if on else attribute.permissions & ~flag

    # ---- connections

    def _connected(self, connection):
        log(self.name, 'connected by', connection.peer_address)
        connection.gone = asyncio.get_running_loop().create_future()
        connection.served = set()  # subscriptions of this connection
        connection.on('disconnection', lambda reason: self._disconnected(connection, reason))
        connection.on('pairing', lambda keys: log(self.name, 'paired'))
        connection.on('pairing_failure', lambda reason: log(self.name, 'pairing failed', reason))
        connection.on('connection_encryption_change', lambda: self._encrypted(connection))

    def _disconnected(self, connection, reason):
        log(self.name, f'disconnected, reason 0x{reason:02x}')
        self.record(event='disconnected', reason=reason)
        if not connection.gone.done():
            connection.gone.set_result(None)

    def _encrypted(self, connection):
        log(self.name, 'encryption', connection.encryption)
        if connection.encryption and self.remembered and not connection.served:
            for uuid, bits in self.remembered.items():
                table = self.device.gatt_server.subscribers.setdefault(connection, {})
                table[self.characteristics[uuid].handle] = bytes([bits, 0])
                self._subscribed(uuid, connection, bits & 1, bits & 2)

    def _subscribed(self, uuid, connection, notify, indicate):
        log(self.name, f'{text_of(uuid)} subscription: notify {bool(notify)}, indicate {bool(indicate)}')
        if self.remembered is not None:
            self.remembered[uuid] = bool(notify) | bool(indicate) << 1
        again = uuid in connection.served
        (connection.served.add if notify or indicate else connection.served.discard)(uuid)
        if again:  # written once more: nothing new
            return
        if notify or indicate:
            asyncio.get_running_loop().create_task(self.subscribed(uuid, connection))

    async def subscribed(self, uuid, connection):
        """For sensors that send something at once."""

    def subscribers(self, uuid, bits=3):
        """The connections with a subscription: bit 0 to notifications, bit 1 to indications."""
        characteristic = self.characteristics.get(uuid)
        table = self.device.gatt_server.subscribers
        return [connection for connection in self.device.connections.values()
                if characteristic and (table.get(connection, {}).get(characteristic.handle) or b'\0')[0] & bits]

    # ---- sending

    async def send(self, uuid, octets, record=None):
        """To everybody who subscribed; true if somebody did and, for an indication, confirmed it."""
        reached = False
        characteristic = self.characteristics[uuid]
        what = {'characteristic': text_of(uuid), 'hex': octets.hex(), 'record': record}
        for connection in ([] if self.silent else self.subscribers(uuid)):
            if len(octets) > connection.att_mtu - 3:
                raise ValueError(f'{text_of(uuid)}: {len(octets)} octets do not fit the MTU of {connection.att_mtu}')
            sent = time.time()
            if self.subscribers(uuid, bits=1):
                await self.device.notify_subscriber(connection, characteristic, octets)
                self.record(time=sent, **what)
                reached = True
            else:
                self.under_way += 1
                try:
                    confirmed = await self._indicate(connection, characteristic, octets)
                finally:
                    self.under_way -= 1
                self.record(time=sent, confirmed=confirmed, **what)
                reached = reached or confirmed
            if self.drop_after is not None and self.drop_after_uuid in (None, uuid):
                self.drop_after -= 1
                if self.drop_after <= 0:
                    self.drop_after = None
                    await self.drop()
        return reached

    async def _indicate(self, connection, characteristic, octets):
        """Bumble waits 30 s for the confirmation of a client that has left."""
        indication = asyncio.ensure_future(self.device.indicate_subscriber(connection, characteristic, octets))
        done, _ = await asyncio.wait([indication, connection.gone], return_when=asyncio.FIRST_COMPLETED)
        if indication in done and not indication.exception():
            return True
        indication.cancel()
        return False

    async def run_stream(self, stream):
        due = time.monotonic()
        while True:
            rate = self.rates[stream.uuid]
            due = max(due + 1 / rate, time.monotonic() - 1)  # on time without drift; after a pause no crowd
            await asyncio.sleep(max(0, due - time.monotonic()))
            await self.send_next(stream)

    async def send_next(self, stream):
        if self.silent or not self.subscribers(stream.uuid):
            return
        try:
            octets = stream.make(self)
            if octets is not None:
                await self.send(stream.uuid, octets)
        except Exception as problem:  # the link was lost half way
            log(self.name, 'send:', repr(problem))

    # ---- commands, by name: `drop heart` calls drop()

    async def start(self):
        await self.device.power_on()
        for stream in self.streams:
            asyncio.get_running_loop().create_task(self.run_stream(stream))

    async def appear(self):
        """Advertises (again)."""
        if not self.on_air:
            self.on_air = True
            await self.device.start_advertising(own_address_type=hci.OwnAddressType.RANDOM, auto_restart=True)
            log(self.name, 'on air as', self.address)

    async def drop(self):
        """Ends the connection, and advertises again."""
        for connection in list(self.device.connections.values()):
            await connection.disconnect()

    async def vanish(self):
        """Out of range: no more advertisements, and the link times out without a word."""
        self.on_air = False
        await self.device.stop_advertising()
        self.link.lose(self.controller)
        await asyncio.sleep(0.05)
        await self.device.stop_advertising()  # Bumble restarts it after a disconnection

    async def silence(self, word='on'):
        """`silent NAME [on|off]`: the link stays, reads are answered, nothing is sent. Done when nothing is on its way any more."""
        self.silent = word == 'on'
        while self.silent and self.under_way:
            await asyncio.sleep(0.01)

    async def rate(self, hertz):
        """`rate NAME HERTZ`: of all streams."""
        for stream in self.streams:
            self.rates[stream.uuid] = float(hertz)

    async def burst(self, count, hertz='20'):
        """`burst NAME COUNT [HERTZ]`: so many values of the first stream, at that rate; done when the last is sent."""
        stream, due = self.streams[0], time.monotonic()
        for _ in range(int(count)):
            await self.send_next(stream)
            due += 1 / float(hertz)
            await asyncio.sleep(max(0, due - time.monotonic()))

    async def clock(self, seconds):
        """`clock NAME SECONDS`: the sensor's clock is ahead by so much (behind: negative)."""
        self.clock_offset = timedelta(seconds=float(seconds))

    async def security(self, word):
        """`security NAME on|off`: whether subscribing needs a bond."""
        self.secure(word == 'on')

    async def forget(self):
        """Loses its bonds, as a sensor with a fresh battery does."""
        self.device.keystore = MemoryKeyStore()

    async def remember(self, word='on'):
        """`remember NAME [on|off]`: keeps subscriptions over connections, as the specification wants of a bonded sensor; so
        values may come as soon as the link is encrypted, before anybody asks. Off at the start."""
        self.remembered = {} if word == 'on' else None

    async def unsubscribe(self):
        """The link stays and the subscriptions are gone; only a new one brings values back."""
        for connection in self.device.connections.values():
            self.device.gatt_server.subscribers.pop(connection, None)
            connection.served.clear()

    async def shift(self):
        """Drops the link and puts a service in front of the others: all handles move, as after a new firmware."""
        await self.drop()
        self._insert_service(0)

    async def move(self, named='all'):
        """`move NAME [all|part]`: the link stays, and the sensor's own services move to other handles: only Service Changed says so. With
        `part` it names the handles of the first alone, so that BlueZ forgets the others and does not look for them."""
        server = self.device.gatt_server
        kept = [service for service in server.services if service.uuid in GENERIC]
        changed = next(value for service in kept for value in service.characteristics if value.uuid == SERVICE_CHANGED)
        server.services = kept + [service for service in server.services if service not in kept]
        self._insert_service(len(kept))
        first = server.services[len(kept)].handle
        last = 0xFFFF if named == 'all' else server.services[len(kept) + 1].handle - 1
        for connection in self.device.connections.values():
            table = server.subscribers.get(connection, {})
            server.subscribers[connection] = {handle: bits for handle, bits in table.items() if handle < first}
            connection.served.clear()
            reached = (server.subscribers[connection].get(changed.handle) or b'\0')[0] & 2
            log(self.name, 'services moved,', 'told' if reached else 'nobody asked')
            if reached:
                await self._indicate(connection, changed, struct.pack('<HH', first, last))
        self.record(event='moved')

    def _insert_service(self, index):
        """Puts a service before this one: it and all behind it get other handles."""
        server = self.device.gatt_server
        services = list(server.services)
        services.insert(index, Service(core.UUID.from_16_bits(0xFEF5), [
            self._characteristic(Value(0x2A00 + len(services), 'read', b'new'))]))
        server.services, server.attributes, server.attributes_by_handle = [], [], {}
        self.device.add_services(services)
        self.secure(self.bonding)

    async def pairing(self, capability):
        """`pairing NAME none|display|keyboard|compare`: how the next pairing goes."""
        self.capability = capability if capability in PAIRING else PAIRING[capability]
        self.entered = asyncio.get_running_loop().create_future()

    async def passkey(self, digits):
        """`passkey NAME DIGITS`: somebody types them on the sensor."""
        self.entered.set_result(int(digits))

    async def dropafter(self, count, uuid=None):
        """`dropafter NAME COUNT [UUID]`: ends the connection after so many more values, of that characteristic where one is said."""
        self.drop_after, self.drop_after_uuid = int(count), uuid and int(uuid, 16)

    async def raw(self, uuid, octets):
        """`raw NAME UUID HEX`: sends these octets once."""
        return f'reached {await self.send(int(uuid, 16), bytes.fromhex(octets))}'

    async def battery(self, percent):
        """`battery NAME PERCENT`: sets it, and notifies it."""
        self.battery_level = int(percent)
        await self.send(0x2A19, bytes([self.battery_level]))

    async def state(self):
        return {
            'address': self.address, 'on_air': self.on_air, 'silent': self.silent, 'connected': len(self.device.connections),
            'encrypted': [bool(connection.encryption) for connection in self.device.connections.values()],
            'subscribed': sorted(text_of(uuid) for uuid in self.characteristics if self.subscribers(uuid)),
            'clock_offset': self.clock_offset.total_seconds(), 'bonds': len(await self.device.keystore.get_all()),
        }


def battery_service():
    return [Value(0x2A19, 'read notify', lambda sensor: bytes([sensor.battery_level]))]


def set_clock(sensor, _connection, octets):
    """A write of 0x2A2B."""
    if len(octets) != 10:
        raise att.ATT_Error(att.ErrorCode.INVALID_ATTRIBUTE_LENGTH)
    before = sensor.clock_offset.total_seconds()
    sensor.clock_offset = read_date_time(octets) - datetime.now(timezone.utc).replace(tzinfo=None)
    sensor.record(event='clock-set', before=before, after=sensor.clock_offset.total_seconds())


def current_time_service():
    return [Value(0x2A2B, 'read write', lambda sensor: current_time(sensor.now()), set_clock)]


class Advertiser(Neighbour):
    """Something that only advertises: nobody can connect. `payload` makes new content every `period` seconds."""

    period = 2.0
    interval = 0.2
    service_uuid = 0
    company = 0  # its data in place of a service's

    def __init__(self, link, ledger):
        super().__init__(link, ledger)
        self.controller = Controller(f'c-{self.name}', link=link, public_address='00:00:00:00:00:00')
        self.controller.random_address = hci.Address(self.address, hci.Address.RANDOM_DEVICE_ADDRESS)
        self.content = b''

    def payload(self):
        raise NotImplementedError

    def renew(self):
        self.content = self.payload()
        self.record(characteristic=f'adv:{self.company or self.service_uuid:04X}', hex=self.content.hex())

    def structures(self):
        """31 octets at most: the kernel drops a longer one without a word."""
        kind = core.AdvertisingData.MANUFACTURER_SPECIFIC_DATA if self.company else SERVICE_DATA_16
        octets = struct.pack('<H', self.company or self.service_uuid) + self.content
        room = 31 - 3 - 2 - len(octets) - 2
        name = [(core.AdvertisingData.SHORTENED_LOCAL_NAME, self.name.encode()[:room])] if room > 0 else []
        return bytes(core.AdvertisingData([(core.AdvertisingData.FLAGS, bytes([0x06])), (kind, octets), *name]))

    async def start(self):
        asyncio.get_running_loop().create_task(self._run())

    async def _run(self):
        due = 0.0
        while True:
            if self.on_air:
                if time.monotonic() >= due and not self.silent:
                    self.renew()
                    due = time.monotonic() + self.period
                self.link.send_advertising_pdu(self.controller, ll.AdvNonConnInd(
                    advertiser_address=self.controller.random_address, data=self.structures()))
            await asyncio.sleep(self.interval)

    async def appear(self):
        self.on_air = True

    async def vanish(self):
        self.on_air = False

    async def silence(self, word='on'):
        """Goes on repeating the last content."""
        self.silent = word == 'on'

    async def rate(self, hertz):
        self.period = 1 / float(hertz)

    async def state(self):
        return {'address': self.address, 'on_air': self.on_air, 'silent': self.silent}
