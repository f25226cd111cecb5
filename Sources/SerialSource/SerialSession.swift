import EventLoopKit
import Glibc
import HealthModel
import Pipeline
import Wire

/// One adopted device on a serial line. The session opens the port when it is plugged in, and passes on its frames until it is removed.
final class SerialSession {
    enum State: String {
        case stopped, unplugged, live
        /// Another program has the port.
        case busy
        /// The meter has sent everything, or no meter is connected to its cable.
        case resting
        /// The line is broken or access is denied. It is tried again later.
        case waiting
    }

    let description: SerialDescription
    private(set) var state = State.stopped
    private unowned let source: SerialSource
    private var port: SerialPort?
    private var framer: StreamFramer
    private var dialogue: (any MeterDialogue)?
    private var device: Device
    private var timer: EventLoop.Timer?
    private var keepAlive: EventLoop.Timer?
    private var missing: PathWatch?
    private var failures = 0
    private var notified: SerialPortError?
    /// The last time of receipt. Equal frames that were read in one piece are two readings, so each frame needs a different time.
    private var lastReceived = Instant(microseconds: 0)
    /// The number of times the port was opened. It identifies answers that belong to an earlier session.
    private var generation = 0

    /// The pause before a silent cable is tried again. Plugging a meter into its cable causes no event.
    private static let silenceRest = Duration.seconds(60)
    private static let meterRest = Duration.seconds(300)

    init(_ description: SerialDescription, source: SerialSource) {
        self.description = description
        self.source = source
        device = description.device
        framer = StreamFramer(description.framing)
    }

    private var path: String { description.path }
    private var loop: EventLoop { source.loop }

    func start() {
        failures = 0
        open()
    }

    func stop() {
        close()
        enter(.stopped)
    }

    /// Called when any port was plugged in, which may be this one.
    func plugged() {
        guard port == nil, state != .stopped else { return }
        failures = 0
        open()
    }

    private func enter(_ state: State) {
        guard self.state != state else { return }
        self.state = state
        source.delegate?.changed()
    }

    // MARK: The port

    private func open() {
        guard port == nil else { return }
        timer?.cancel()
        missing = nil
        do throws(SerialPortError) {
            port = try SerialPort(path: path, settings: description.settings, loop: loop) { [weak self] in self?.handle($0) }
        } catch {
            return couldNotOpen(error)
        }
        generation += 1
        notified = nil
        enter(.live)
        notify(.information, "it is plugged in")
        framer = StreamFramer(description.framing)
        for bytes in description.opening { port?.write(bytes) }
        armKeepAlive()
        if let meter = description.meter {
            dialogue = meter.dialogue()
            carryOut(dialogue?.handle(.opened) ?? [])
        }
    }

    private func couldNotOpen(_ error: SerialPortError) {
        let isNew = notified != error
        notified = error
        switch error {
        case .missing:
            enter(.unplugged)
            missing = PathWatch(path, loop: loop) { [weak self] in self?.plugged() }
            // The port may have appeared while the watch was being set.
            if missing == nil, access(path, F_OK) == 0 { again(after: .seconds(1)) }
            return
        case .taken:
            enter(.busy)
            if isNew { notify(.warning, "another program uses this port: waiting until it is free") }
        case .denied:
            enter(.waiting)
            if isNew {
                notify(.action, "no permission to open it: run `sudo usermod -a -G dialout USER` for the user of the hub")
            }
        case .broken, .noPort, .unsupported:
            enter(.waiting)
            if isNew {
                notify(
                    .warning,
                    error == .unsupported ? "it cannot be set to the device's speed" : "it cannot be opened as a serial port")
            }
        }
        failures += 1
        again(after: .seconds(1 << min(failures - 1, 6)))
    }

    private func again(after delay: Duration) {
        timer?.cancel()
        timer = loop.after(delay) { [weak self] in self?.open() }
    }

    /// Ends the stream. A truncated frame is reported, but not accepted.
    private func close() {
        timer?.cancel()
        keepAlive?.cancel()
        missing = nil
        guard port != nil else { return }
        for bytes in description.closing { port?.write(bytes) }
        port = nil
        dialogue = nil
        generation += 1
        var rest: [Piece] = []
        framer.finish(isCut: true) { rest.append(Piece($0)) }
        for piece in rest { take(piece) }
        source.delegate?.ended(path)
    }

    private func handle(_ event: SerialPort.Event) {
        switch event {
        case .bytes(let bytes):
            var pieces: [Piece] = []
            framer.feed(bytes) { pieces.append(Piece($0)) }
            // Handling a frame may end the stream.
            for piece in pieces where port != nil { take(piece) }
        case .ended:
            close()
            notify(.information, "it was unplugged")
            enter(.unplugged)
            // A line that breaks but stays plugged in causes no event when it works again.
            failures += 1
            again(after: .seconds(1 << min(failures, 6)))
        }
    }

    private func armKeepAlive() {
        guard let keep = description.keepAlive else { return }
        keepAlive = loop.after(keep.every) { [weak self] in
            guard let self, let port else { return }
            port.write(keep.bytes)
            armKeepAlive()
        }
    }

    // MARK: Frames

    /// An event of the framer, copied so that it can be handled after the framer is done.
    private enum Piece {
        case frame([UInt8], offset: Int)
        case skipped(SkippedBytes)

        init(_ event: StreamFramer.Event) {
            switch event {
            case .frame(let bytes, let offset): self = .frame(Array(bytes), offset: offset)
            case .skipped(let bytes): self = .skipped(bytes)
            }
        }
    }

    private func take(_ piece: Piece) {
        switch piece {
        case .skipped(let bytes): source.delegate?.skipped(bytes, of: path)
        case .frame(let bytes, let offset):
            failures = 0
            guard dialogue != nil else { return bytes.withUnsafeBytes { deliver($0, at: offset) } }
            let commands = dialogue?.handle(.line(bytes)) ?? []
            carryOut(commands)
        }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        let isBlank = description.framing.isDelimited && bytes.allSatisfy { $0 == 0x0A || $0 == 0x0D }
        if isBlank { return }
        let now = loop.clock.now
        let isSetBack = now.microseconds < lastReceived.microseconds &- 1_000_000
        lastReceived = isSetBack ? now : max(now, Instant(microseconds: lastReceived.microseconds &+ 1))
        source.delegate?.received(
            RawFrame(
                payload: .bytes(bytes), place: Place(.byte, offset), received: lastReceived, channel: description.channel,
                device: device),
            of: path)
    }

    // MARK: Meters

    private func carryOut(_ commands: [MeterCommand]) {
        for command in commands {
            switch command {
            case .write(let bytes): port?.write(bytes)
            case .wait(let time):
                timer?.cancel()
                timer = loop.after(time) { [weak self] in
                    guard let self, dialogue != nil else { return }
                    carryOut(dialogue?.handle(.silence) ?? [])
                }
            case .identified(let maker, let model, let serial, let firmware):
                device = Device(
                    key: "\(maker)/\(model)/\(serial)", name: model, manufacturer: maker, model: model, serial: serial,
                    firmware: firmware)
                source.delegate?.identified(device, of: path)
            case .clock(let shown): source.delegate?.learned(shown, at: loop.clock.now, of: path)
            case .records(let records):
                source.delegate?.beginsRecords(of: path)
                for (number, record) in records.enumerated() { record.withUnsafeBytes { deliver($0, at: number) } }
            case .finished: finish()
            case .failed(let failure): fail(failure)
            }
        }
    }

    private func finish() {
        timer?.cancel()
        let generation = generation
        source.delegate?.collected(path) { [weak self] in
            guard let self, self.generation == generation, port != nil else { return }
            notify(.information, "its memory was read and is kept on the device")
            rest(Self.meterRest)
        }
    }

    private func fail(_ failure: MeterFailure) {
        if failure != .silent { notify(.warning, "nothing was imported: \(failure.text)") }
        rest(failure == .silent ? Self.silenceRest : Self.meterRest)
    }

    /// Releases the port for a while.
    private func rest(_ time: Duration) {
        close()
        enter(.resting)
        again(after: time)
    }

    private func notify(_ weight: SourceNotice.Weight, _ text: String) {
        source.delegate?.didReceive(SourceNotice(weight, path, text))
    }
}
