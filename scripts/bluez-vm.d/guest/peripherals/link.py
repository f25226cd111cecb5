"""The link, and the controller BlueZ drives through /dev/vhci; with mends for Bumble 0.0.236."""
import asyncio
import os

from bumble import att, core, hci, ll
from bumble.controller import Controller
from bumble.link import LocalLink
from bumble.transport import open_transport

from .ledger import log

ADAPTER_ADDRESS = 'C0:FF:EE:00:00:01'

write_value = att.Attribute.write_value


async def write_if_permitted(attribute, bearer, value):
    """Refuses to write what is read-only (Bluetooth Core, Vol 3, Part F, 3.4.5.1). Bumble would write it: after a sensor has moved its
    services, BlueZ writes to the old handle of a configuration descriptor, and the UUID of the service that is there now would be lost."""
    if not attribute.permissions & att.Attribute.WRITEABLE:
        raise att.ATT_Error(error_code=att.ATT_WRITE_NOT_PERMITTED_ERROR, att_handle=attribute.handle)
    await write_value(attribute, bearer, value)


att.Attribute.write_value = write_if_permitted


class Link(LocalLink):
    """Carries ACL data under the address the connection was made with.

    Bumble always uses the sender's random address, which is another one when a central connects with its public address, as
    BlueZ does.
    """

    def send_acl_data(self, sender_controller, destination_address, transport, data):
        if transport != core.PhysicalTransport.LE:
            super().send_acl_data(sender_controller, destination_address, transport, data)
            return
        mine = sender_controller.le_connections.get(destination_address)
        target = self.find_le_controller(destination_address)
        if mine is not None and target is not None:
            asyncio.get_running_loop().call_soon(target.on_link_acl_data, mine.self_address, transport, data)

    def send_ll_control_pdu(self, sender_address, receiver_address, packet):
        try:
            super().send_ll_control_pdu(sender_address, receiver_address, packet)
        except core.InvalidArgumentError:
            log('link: nobody at', receiver_address, 'for', type(packet).__name__)

    def lose(self, controller, reason=hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR):
        """Both ends of the controller's connections see a supervision timeout; nothing is said over the air."""
        for connection in list(controller.le_connections.values()):
            other = self.find_le_controller(connection.peer_address)
            mirror = other and other.le_connections.get(connection.self_address)
            controller.on_le_disconnected(connection, reason)
            if mirror:
                other.on_le_disconnected(mirror, reason)


class AdapterController(Controller):
    """The controller BlueZ drives: LE only, legacy advertising and scanning."""

    le_features = (
        hci.LeFeatureMask.LE_ENCRYPTION
        | hci.LeFeatureMask.EXTENDED_REJECT_INDICATION
        | hci.LeFeatureMask.PERIPHERAL_INITIATED_FEATURE_EXCHANGE
        | hci.LeFeatureMask.LE_PING
    )
    supported_commands = Controller.supported_commands - {
        hci.HCI_LE_SET_EXTENDED_SCAN_PARAMETERS_COMMAND,
        hci.HCI_LE_SET_EXTENDED_SCAN_ENABLE_COMMAND,
        hci.HCI_LE_EXTENDED_CREATE_CONNECTION_COMMAND,
        hci.HCI_LE_READ_BUFFER_SIZE_V2_COMMAND,
        hci.HCI_LE_SET_PRIVACY_MODE_COMMAND,
        hci.HCI_LE_READ_TRANSMIT_POWER_COMMAND,
    }

    def on_hci_command(self, command):
        log('adapter: unsupported', command.name)
        return super().on_hci_command(command)

    def on_ll_advertising_pdu(self, packet):
        # Bumble drops the advertisements of those who can't be connected to.
        if isinstance(packet, ll.AdvNonConnInd):
            if self.le_scan_enable:
                event = hci.HCI_LE_Advertising_Report_Event
                self.send_hci_packet(event([event.Report(
                    event_type=event.EventType.ADV_NONCONN_IND, address_type=packet.advertiser_address.address_type,
                    address=packet.advertiser_address, data=packet.data, rssi=-60)]))
        else:
            super().on_ll_advertising_pdu(packet)

    def on_hci_le_create_connection_cancel_command(self, _command):
        # Bumble answers success and leaves the attempt pending for ever.
        pending, self.pending_le_connection = self.pending_le_connection, None
        if pending is None:
            return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.COMMAND_DISALLOWED_ERROR)
        asyncio.get_running_loop().call_soon(
            self.send_hci_packet,
            hci.HCI_LE_Connection_Complete_Event(
                status=hci.HCI_ErrorCode.UNKNOWN_CONNECTION_IDENTIFIER_ERROR,
                connection_handle=0, role=hci.Role.CENTRAL,
                peer_address_type=pending.peer_address.address_type,
                peer_address=pending.peer_address, connection_interval=0,
                peripheral_latency=0, supervision_timeout=0, central_clock_accuracy=0))
        return hci.HCI_StatusReturnParameters(hci.HCI_ErrorCode.SUCCESS)


class Adapter:
    """hci0, to be plugged in and pulled out."""

    def __init__(self, link):
        self.link = link
        self.transport = self.controller = None

    async def add(self):
        if self.controller:
            return
        while not os.path.exists('/dev/vhci'):
            await asyncio.sleep(0.05)
        self.transport = await open_transport('vhci:')
        self.controller = AdapterController(
            'hci0', host_source=self.transport.source, host_sink=self.transport.sink, link=self.link,
            public_address=hci.Address(ADAPTER_ADDRESS, hci.Address.PUBLIC_DEVICE_ADDRESS))
        log('adapter: attached')

    async def remove(self):
        if not self.controller:
            return
        self.controller.set_packet_sink(None)
        self.link.lose(self.controller)
        self.link.remove_controller(self.controller)
        self.controller = None
        await self.transport.close()
        log('adapter: gone')
