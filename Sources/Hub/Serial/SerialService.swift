import EventLoopKit
import HealthModel
import Ingestion
import Pipeline
import Profiles
import SampleStore
import SerialSource
import Wire

/// The serial ports as a source of the hub. It passes the frames of adopted devices to the live ingest, and releases a meter when
/// its memory is durable.
package final class SerialService: HubSource, SerialSourceDelegate {
    /// `serial`.
    package let name = "serial"
    /// Receives notices and changes of devices.
    package weak var host: (any HubSourceHost)?
    private let live: LiveIngest
    private let source: SerialSource
    private var known: [String: Known] = [:]
    private var assembly = DeviceAssembly(library: ProfileLibrary([]))
    private var aliases: [String: String] = [:]
    private var zone: TimeZoneRules?

    private struct Known {
        var device: LiveDevice
        /// The device as the user configured it. New facts from the device are not a change.
        var adopted: AdoptedDevice
        var description: SerialDescription
    }

    /// Becomes the delegate of `source`.
    package init(live: LiveIngest, source: SerialSource) {
        self.live = live
        self.source = source
        source.delegate = self
    }

    /// Whether the expected readings of each adopted serial device are durable.
    package var isDone: Bool { known.values.allSatisfy { live.isComplete($0.device) } }

    /// Adopted serial devices by path, with the state from the source.
    package var devices: [HubDevice] {
        known.sorted { $0.key < $1.key }.map { HubDevice($1.device, state: source.state(of: $0)) }
    }

    /// Adopts new and changed serial devices at the source, and releases removed ones.
    package func apply(_ settings: HubSettings) {
        assembly = DeviceAssembly(library: settings.library)
        zone = settings.zone
        var found: Set<String> = []
        for adopted in settings.devices {
            guard let path = adopted.serialPath else { continue }
            for id in adopted.profiles where settings.library[id] == nil {
                notify(.action, path, "there is no profile \(id): run `vitalgate profile list` for a list")
            }
            guard let description = assembly.serial(adopted) else { continue }
            found.insert(path)
            let profiles = adopted.profiles.compactMap { settings.library[$0] }
            if let old = known[path], old.description.isSame(as: description), old.adopted.decisions == adopted.decisions,
                aliases == settings.aliases
            {
                known[path]?.device = live.move(old.device, to: settings.zone)
                known[path]?.device.read(by: profiles)
                continue
            }
            if let old = known[path] { live.finishStream(of: old.device) }
            let device = LiveDevice(adopted, profiles: profiles, aliases: settings.aliases, zone: settings.zone)
            device.expectedInterval = profiles.compactMap(\.connection.expectedInterval).min().map { .seconds($0) }
            live.recallClock(of: device)
            known[path] = Known(device: device, adopted: adopted, description: description)
            source.adopt(description)
        }
        aliases = settings.aliases
        for (path, deleted) in known where !found.contains(path) {
            source.release(path)
            live.finishStream(of: deleted.device)
            known[path] = nil
        }
        host?.changed(self)
    }

    /// Starts the source and checks the connected ports. It throws only if a device is adopted.
    package func start() throws(SourceError) {
        do throws(SourceError) {
            try source.start()
        } catch {
            // Without adopted devices, plugs are not needed.
            guard known.isEmpty else { throw error }
        }
        for plug in UdevPlugs.present() { plugged(plug) }
    }

    /// Stops the source and settles the held readings of each device.
    package func stop() {
        source.stop()
        for each in known.values { live.finishStream(of: each.device) }
    }

    // MARK: Events of the source

    /// Passes a frame to the ingest. Frames of unknown devices are dropped.
    package func received(_ frame: RawFrame, of path: String) {
        guard let device = known[path]?.device else { return }
        live.receive(frame, of: device)
        host?.changed(self)
    }

    /// Records skipped bytes. A truncated frame counts as an unreadable reading, and noise is only counted in bytes.
    package func skipped(_ bytes: SkippedBytes, of path: String) {
        guard known[path] != nil else { return }
        live.skip(SkipKind("noise-octets"), count: bytes.count)
        guard bytes.containsLostFrame else { return }
        live.refuse(Refusal("\(FrameError(bytes.fault)) (at byte \(bytes.fault.offset))", at: Place(.byte, bytes.offset)))
    }

    /// Stores the meter's description of itself if it is new.
    package func identified(_ device: Device, of path: String) {
        guard let known = known[path]?.device, known.adopted.device != device else { return }
        known.adopted.device = device
        known.adopted.key = device.key
        live.remember(known.adopted)
    }

    /// Compares the meter's clock with the hub's local time. Its times are corrected if it is off.
    package func learned(_ shown: WallTime, at received: Instant, of path: String) {
        guard let device = known[path]?.device, let zone else { return }
        let right = received.wallTime(at: zone.offset(at: received))
        live.learn(
            ahead: shown.microseconds &- right.microseconds, ofUTC: shown.microseconds &- received.microseconds, of: device)
    }

    /// Starts reading the meter's whole memory, in order.
    package func beginsRecords(of path: String) {
        if let device = known[path]?.device { live.beginRecords(of: device) }
    }

    /// Commits the meter's readings and then calls `done`. Calls it at once if the device is no longer adopted.
    package func collected(_ path: String, done: @escaping () -> Void) {
        guard let device = known[path]?.device else { return done() }
        live.commit(device, confirm: done)
    }

    /// Settles the held readings of the device.
    package func ended(_ path: String) {
        if let device = known[path]?.device { live.finishStream(of: device) }
    }

    /// Suggests adopting a device that its plug identifies. A common adapter identifies nothing.
    package func plugged(_ plug: SerialPlug) {
        let paths = plug.links + [plug.node]
        guard !paths.contains(where: { known[$0] != nil }), let profile = assembly.profiles(for: plug).own.first,
            let path = plug.durablePath
        else { return }
        notify(.action, path, "\(profile.name) is plugged in: run `vitalgate devices adopt \(path)` to read it")
    }

    package func didReceive(_ notice: SourceNotice) { host?.didReceive(notice) }
    /// Reports a change of a device's state to the hub.
    package func changed() { host?.changed(self) }

    private func notify(_ weight: SourceNotice.Weight, _ component: String, _ text: String) {
        didReceive(SourceNotice(weight, component, text))
    }
}

extension SerialDescription {
    /// Whether only facts from the device itself differ.
    fileprivate func isSame(as other: SerialDescription) -> Bool {
        var other = other
        other.device = device
        return self == other
    }
}
