import CUdev
import EventLoopKit
import Glibc
import Pipeline

/// Monitors serial ports through libudev, both present ports and changes (udev_monitor_new_from_netlink(3)).
package final class UdevPlugs: PlugMonitor {
    private let loop: EventLoop
    private var udev: OpaquePointer?
    private var monitor: OpaquePointer?
    private var handler: ((PlugChange) -> Void)?

    /// - Parameter loop: the loop on whose thread changes are reported.
    package init(loop: EventLoop) { self.loop = loop }

    deinit { stop() }

    /// Reports each change from now on.
    ///
    /// - Throws: ``SourceError`` if udev cannot be monitored.
    package func start(_ handler: @escaping (PlugChange) -> Void) throws(SourceError) {
        stop()
        udev = udev_new()
        monitor = udev.flatMap { udev_monitor_new_from_netlink($0, "udev") }
        guard let monitor, udev_monitor_filter_add_match_subsystem_devtype(monitor, "tty", nil) == 0,
            udev_monitor_enable_receiving(monitor) == 0
        else {
            stop()
            throw SourceError(.inputOutput, "udev does not respond: \(String(cString: strerror(errno)))")
        }
        self.handler = handler
        loop.watch(udev_monitor_get_fd(monitor)) { [weak self] _ in self?.drain() }
    }

    /// Stops the reports. It may be started again.
    package func stop() {
        if let monitor {
            loop.unwatch(udev_monitor_get_fd(monitor))
            udev_monitor_unref(monitor)
        }
        if let udev { udev_unref(udev) }
        (udev, monitor, handler) = (nil, nil, nil)
    }

    /// Returns the serial ports of USB devices that are plugged in now.
    package static func present() -> [SerialPlug] {
        guard let udev = udev_new() else { return [] }
        defer { udev_unref(udev) }
        guard let list = udev_enumerate_new(udev) else { return [] }
        defer { udev_enumerate_unref(list) }
        udev_enumerate_add_match_subsystem(list, "tty")
        udev_enumerate_add_match_property(list, "ID_BUS", "usb")
        udev_enumerate_scan_devices(list)
        var plugs: [SerialPlug] = []
        var entry = udev_enumerate_get_list_entry(list)
        while let current = entry {
            if let device = udev_device_new_from_syspath(udev, udev_list_entry_get_name(current)) {
                if let plug = SerialPlug(device) { plugs.append(plug) }
                udev_device_unref(device)
            }
            entry = udev_list_entry_get_next(current)
        }
        return plugs.sorted { $0.node < $1.node }
    }

    private func drain() {
        // The handler may stop the monitor.
        while let monitor, let device = udev_monitor_receive_device(monitor) {
            defer { udev_device_unref(device) }
            guard let action = udev_device_get_action(device).map({ String(cString: $0) }), let plug = SerialPlug(device) else {
                continue
            }
            switch action {
            case "add", "change": handler?(.plugged(plug))
            case "remove": handler?(.unplugged(plug))
            default: break
            }
        }
    }
}

extension SerialPlug {
    fileprivate init?(_ device: OpaquePointer) {
        guard let node = udev_device_get_devnode(device) else { return nil }
        self.init(node: String(cString: node))
        func property(_ name: String) -> String? { udev_device_get_property_value(device, name).map { String(cString: $0) } }
        vendor = property("ID_VENDOR_ID") ?? ""
        product = property("ID_MODEL_ID") ?? ""
        serial = property("ID_SERIAL_SHORT")
        model = property("ID_MODEL_FROM_DATABASE") ?? property("ID_MODEL") ?? ""
        var entry = udev_device_get_devlinks_list_entry(device)
        while let current = entry {
            if let name = udev_list_entry_get_name(current) { links.append(String(cString: name)) }
            entry = udev_list_entry_get_next(current)
        }
    }
}
