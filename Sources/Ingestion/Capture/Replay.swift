import EventLoopKit
import HealthModel
import Pipeline
import Profiles
import SampleStore

/// Replays a capture through the same path as live frames, with the hub's recorded clock. The result is the same samples with the
/// same UUIDs, on any machine and however often it is repeated.
///
///     let replay = Replay(reader: try CaptureReader(path: "field.ndjson"), settings: settings)
///     try replay.check()
///     let account = try replay.run(into: store, name: "field.ndjson")
///
/// The devices need not be adopted in the store, and the store remembers nothing about them.
package final class Replay {
    /// The inputs besides the capture.
    package struct Settings {
        /// The profiles that read the devices.
        package var library: ProfileLibrary
        package var zone: (String) -> TimeZoneRules?
        /// Keys of encrypted advertisements, by device address. A capture contains none.
        package var keys: [String: String]
        /// The machine's time, for the ledger.
        package var now: @Sendable () -> Instant
        /// Whether the user asked to stop.
        package var isCancelled: () -> Bool

        package init(
            library: ProfileLibrary, keys: [String: String], now: @escaping @Sendable () -> Instant,
            zone: @escaping (String) -> TimeZoneRules?,
            isCancelled: @escaping () -> Bool = { false }
        ) {
            (self.library, self.keys, self.now) = (library, keys, now)
            (self.zone, self.isCancelled) = (zone, isCancelled)
        }
    }

    /// The recorded time.
    private final class Clock: SourceClock {
        var uptime = Duration.zero
        var now = Instant(seconds: 0)
    }

    private struct Known {
        var device: LiveDevice
        var from: Device?
        var part: Int
    }

    /// Notes for the user about differences from the recorded hub.
    package private(set) var notes: [String] = []
    /// Called with the notices that the hub would log.
    package var onNotice: (SourceNotice) -> Void = { _ in }
    private let reader: any ReplayFeed
    private let settings: Settings
    private let clock = Clock()
    private var known: [Int: Known] = [:]
    private var stepsClock = false
    /// The boot of the recorded hub's machine while nothing has confirmed its clock.
    private var recordedBoot: String?
    /// Stands for that boot, so that a capture says nothing about the clock of a machine that reads it.
    private var boot: String { "replay-\(reader.head.id)" }

    /// The maximum number of devices, more than any hub has even after many adoptions.
    private static let maximumDevices = 4096
    /// The number of attempts, 200 ms each, while another process locks the store.
    private static let maximumAttempts = 300

    /// Creates a replay of a capture. Nothing is read yet.
    package init(reader: CaptureReader, settings: Settings) { (self.reader, self.settings) = (reader, settings) }

    /// Creates a replay of Bluetooth traffic. Nothing is read yet.
    package init(traffic: TrafficReader, settings: Settings) { (self.reader, self.settings) = (traffic, settings) }

    /// Reads the whole capture before anything is stored, so that a damaged one is not replayed at all.
    /// - Throws: ``SourceError`` with file and line.
    package func check() throws {
        notes = reader.notes
        known.removeAll()
        guard settings.zone(reader.head.zone) != nil else { throw Self.noZone(reader.head.zone) }
        try reader.forEachLine { checked in
            if checked.line.event == .step { stepsClock = true }
            try meet(checked)
        }
        known.removeAll()
    }

    /// Replays the capture as one ledger entry and returns its account. A last line that is cut off is rejected there.
    /// - Throws: ``StoreError`` if the store fails. Committed samples are retained, and the account's state is `failed`.
    package func run(into store: SampleStore, name: String) throws -> IngestAccount {
        if stepsClock, try store.clock.unset() != nil {
            throw StoreError(
                .busy, "the capture was made with a set clock, but this hub's clock is not set yet: replay it later")
        }
        let mark = try store.clock.mark()
        let ingest = try store.beginIngest(
            IngestDescription(
                kind: .import, name: ImportService.name(of: name), zone: reader.head.zone,
                received: settings.now().microseconds, notes: notes, owner: ProcessIdentity.current()))
        guard let zone = settings.zone(reader.head.zone) else { throw Self.noZone(reader.head.zone) }
        let live = LiveIngest(
            store: store, now: settings.now, zone: zone, loop: EventLoop(clock: clock), replaying: ingest)
        live.onNotice = { [weak self] in self?.onNotice($0) }
        known.removeAll()
        do {
            try reader.forEachLine { checked in
                if settings.isCancelled() { throw Cancelled() }
                try meet(checked)
                try take(checked, live, mark)
            }
            if let cut = reader.cut { live.refuse(Refusal("the file is truncated here", at: cut)) }
            try commit(live)
            try live.stop(state: reader.cut == nil ? "done" : "failed")
        } catch {
            // Everything before the failure is stored and counted in the account.
            _ = try? live.stop(state: error is Cancelled ? "interrupted" : "failed")
            guard error is Cancelled else { throw error }
        }
        guard let account = try store.ledger.account(of: ingest.id) else {
            throw StoreError(.defect, "the ledger has lost the replay's account")
        }
        return account
    }

    private struct Cancelled: Error {}

    private static func noZone(_ name: String) -> SourceError {
        SourceError(
            .malformed, "unknown time zone '\(name)' in the capture: install the tzdata package")
    }

    // MARK: Devices

    /// Registers the device that a line refers to.
    private func meet(_ checked: ReplayLine) throws(SourceError) {
        guard let number = checked.line.device else { return }
        if checked.line.event == .device, let about = checked.line.about {
            if let old = known[number] {
                guard old.part != checked.part else { throw Self.wrong(checked, "device \(number) is described twice") }
                // A new part repeats the known facts.
                known[number] = Known(device: old.device, from: about.description?.device, part: checked.part)
                return
            }
            guard known.count < Self.maximumDevices else { throw Self.wrong(checked, "there are too many devices") }
            known[number] = Known(device: try device(about, checked), from: about.description?.device, part: checked.part)
        } else if known[number] == nil {
            throw Self.wrong(checked, "device \(number) is not described before this line")
        }
    }

    private static func wrong(_ checked: ReplayLine, _ text: String) -> SourceError {
        SourceError(.malformed, "\(checked.place): \(text)")
    }

    private func device(_ about: CapturedDevice, _ checked: ReplayLine) throws(SourceError) -> LiveDevice {
        guard let zone = settings.zone(about.zone) else { throw Self.noZone(about.zone) }
        var profiles: [Profile] = []
        for name in about.profiles {
            guard let profile = settings.library[name.id] else {
                throw Self.wrong(checked, "there is no profile \(name.id): run 'vitalgate profile list' for a list")
            }
            if profile.version != name.version {
                note("profile \(name.id) has version \(profile.version), but the capture was recorded with \(name.version)")
            }
            profiles.append(about.address.hasPrefix(AdoptedDevice.simulated) ? profile.simulated : profile)
        }
        var adopted = AdoptedDevice(
            address: about.address, key: about.key, profiles: about.profiles.map(\.id), name: about.name,
            person: about.person, adopted: about.adopted)
        adopted.device = about.description?.device
        adopted.ownKey = about.ownKey
        adopted.counter = about.counter
        adopted.sharedBy = (about.shared ?? []).map { SharedUse(person: $0.person, weights: $0.from...$0.to) }
        adopted.users = (about.users ?? []).map { ScaleUser(number: $0.number, person: $0.person) }
        if about.sealed {
            adopted.bindKey = settings.keys[about.address]
            if adopted.bindKey == nil {
                note(
                    "\(about.address) encrypts its data, and captures contain no keys: adopt it with its key in this store and replay again"
                )
            }
        }
        let device = LiveDevice(adopted, profiles: profiles, aliases: about.aliases ?? [:], zone: zone)
        device.hasRecords = about.hasRecords
        device.readingsPerSecond = about.readingsPerSecond
        device.gathersHeartbeats = about.heartbeatSeries ?? false
        let points = about.clock.map { $0.map { (shown: $0[0], ahead: $0[1]) } }
        device.clockFacts = LiveDevice.ClockFacts(
            isKnown: about.clockKnown,
            learned: points.map { LearnedClock(points: $0, followsZone: about.clock?.first?.count == 3) },
            isLearnedFromStamps: about.clockFromStamps, learnedIn: about.comparedIn.map { $0 == recordedBoot ? boot : $0 })
        return device
    }

    private func note(_ text: String) { if notes.count < 100, !notes.contains(text) { notes.append(text) } }

    // MARK: Events

    private func take(_ checked: ReplayLine, _ live: LiveIngest, _ mark: UnsetClock.Mark) throws {
        let line = checked.line
        clock.now = Instant(microseconds: line.time)
        clock.uptime = .nanoseconds(line.uptime)
        let device = line.device.flatMap { known[$0]?.device }
        switch line.event {
        case .frame: takeFrame(checked, live)
        case .known:
            guard let device else { return }
            device.adopted.key = line.kind ?? ""
            device.adopted.device = line.from?.device
        case .finish: if let device { live.finishStream(of: device) }
        case .records: device?.beginRecords()
        case .commit:
            guard let device else { return }
            live.commit(device) {}
            try commit(live)
        case .clock: if let device { live.learn(ahead: line.ahead ?? 0, ofUTC: line.ofUTC ?? 0, of: device) }
        case .skip: live.skip(SkipKind(line.kind ?? ""), count: line.count ?? 0)
        case .refuse:
            guard let place = CaptureReader.place(line) else { return }
            live.refuse(Refusal(line.text ?? "", at: place, readings: line.count ?? 1))
        case .step: try step(line, live, mark)
        case .boot: setBoot(line.text, live)
        case .flush: try commit(live)
        case .device, .notice, .end: break
        }
    }

    private func takeFrame(_ checked: ReplayLine, _ live: LiveIngest) {
        let line = checked.line
        guard let number = line.device, let place = CaptureReader.place(line) else { return }
        if let from = line.from { known[number]?.from = from.device }
        guard let known = known[number] else { return }
        func frame(_ payload: RawFrame.Payload) -> RawFrame {
            var frame = RawFrame(
                payload: payload, place: place, received: clock.now, channel: line.channel ?? "", device: known.from)
            frame.hearing = line.receiver.map {
                Hearing(
                    receiver: $0, arrived: Instant(microseconds: line.arrived ?? line.time),
                    replay: line.replay.flatMap { Hearing.Replay(rawValue: $0) })
            }
            return frame
        }
        if let reason = line.text { return live.receive(frame(.malformed(reason)), of: known.device) }
        checked.bytes.withUnsafeBytes { live.receive(frame(.bytes($0)), of: known.device) }
    }

    /// Sets the boot of the recorded hub's machine. Without one its clock is confirmed.
    private func setBoot(_ recorded: String?, _ live: LiveIngest) {
        let wasUnconfirmed = recordedBoot != nil
        recordedBoot = recorded
        live.unconfirmedBoot = recorded == nil ? nil : boot
        guard wasUnconfirmed, recorded == nil else { return }
        live.change { [store = live.store, boot] in try store.clock.confirm(boot) }
    }

    /// Handles a step of the recorded hub's clock: corrects the times that this replay has stored.
    private func step(_ line: CaptureLine, _ live: LiveIngest, _ mark: UnsetClock.Mark) throws {
        let (step, uptime) = (line.by ?? 0, line.uptime / 1000)
        for each in known.values { each.device.clockWasSet(by: step, of: live.unconfirmedBoot) }
        let before = UnsetClock(boot: boot, began: line.time - uptime - step, mark: mark)
        live.clockWasSet(by: step) { [store = live.store, now = clock.now] in
            _ = try store.clock.correct(step, of: before, uptime: uptime, next: nil, now: now, owner: ProcessIdentity.current())
        }
        try commit(live)
    }

    /// Commits where the hub committed, because later readings are compared with stored ones.
    private func commit(_ live: LiveIngest) throws {
        for _ in 0..<Self.maximumAttempts {
            live.flush()
            guard let failure = live.failure else { return }
            guard let error = failure as? StoreError, error.isLockOfAnother else { throw failure }
        }
        if let failure = live.failure { throw failure }
    }
}
