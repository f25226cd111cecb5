import FoundationEssentials
import Glibc
import HealthModel
import PipelineTesting
import SampleStore
import Synchronization
import Testing

@testable import HealthStore

/// Delivered at least once, acknowledged, continued after a restart, and never given up.
@Suite(.timeLimit(.minutes(15))) struct BackgroundDeliveryTests {
    private let test: TestHealth
    private var store: HealthStore { test.store }
    private var received: String { test.folder.file("heard") }

    init() throws { test = try TestHealth() }

    /// Appends received messages to a file, and acknowledges them while there is no file `deaf`.
    private var listener: BackgroundDelivery.Receiver {
        .command(["/bin/sh", "-c", "cat >> '\(received)'; ! test -e '\(test.folder.file("deaf"))'"])
    }

    private func messages() throws -> [BackgroundDelivery.Message] {
        let lines = ((try? test.folder.read("heard")) ?? []).split(separator: UInt8(ascii: "\n"))
        return try lines.map { try JSONDecoder().decode(BackgroundDelivery.Message.self, from: Data($0)) }
    }

    /// Runs a delivery until a number of deliveries succeeded or failed.
    private func run(
        _ delivery: BackgroundDelivery, until count: Int, _ store: HealthStore? = nil,
        then act: @escaping @Sendable (Int) async throws -> Void = { _ in }
    ) async throws -> [BackgroundDelivery.Event] {
        let store = store ?? self.store
        let events = AsyncStream.makeStream(of: BackgroundDelivery.Event.self)
        let running = Task {
            // A delivery that ends early must not be waited for.
            defer { events.continuation.finish() }
            try await delivery.run(for: store) { events.continuation.yield($0) }
        }
        try await act(0)
        var reported: [BackgroundDelivery.Event] = []
        for await event in events.stream {
            reported.append(event)
            if reported.count == count { break }
            try await act(reported.count)
        }
        running.cancel()
        try await running.value
        return reported
    }

    /// Starts a delivery, so that it has a position.
    private func begin(_ delivery: BackgroundDelivery) async throws {
        try ProgressFile(store: test.path, name: delivery.name)
            .write(DeliveryProgress(anchor: try await store.currentAnchor()))
    }

    @Test func commandReceivesNewChanges() async throws {
        try await store.save(TestHealth.steps(1, 60))
        let delivery = try BackgroundDelivery(name: "steps", types: [.stepCount], receiver: listener)
        try await begin(delivery)
        let (writer, before) = (try test.another("other"), try await store.currentAnchor())
        let events = try await run(delivery, until: 2) { count in
            if count == 0 { try await writer.save(try TestHealth.pulse(60, 5)) }
            try await writer.save(TestHealth.steps(count + 2, Int64(50 - count * 10)))
        }
        let reported = try messages()
        #expect(events == reported.map { .delivered($0) })
        #expect(reported.map(\.types) == [["stepCount"], ["stepCount"]])
        // It may have read the changes before the steps arrived, and then has a position after the pulse.
        #expect(try #require(reported.first).after >= before)
        #expect(reported.last?.after == reported.first?.anchor)
        #expect(reported.last?.anchor == (try await store.currentAnchor()))
        // An anchored query finds the types that it names.
        let found = try await AnchoredObjectQueryDescriptor(predicate: .types([.stepCount]), anchor: reported.last?.after)
            .result(for: store)
        #expect(found.addedSamples.map(\.sample.value) == [3])
    }

    @Test func resendsUnacknowledgedWithBackOff() async throws {
        try test.folder.write([], to: "deaf")
        let waits = Mutex<[Duration]>([])
        var delivery = try BackgroundDelivery(name: "deaf", receiver: listener)
        delivery.sleep = { pause in waits.withLock { $0.append(pause) } }
        try await begin(delivery)
        try await store.save(TestHealth.steps(1, 60))
        let folder = test.folder
        let events = try await run(delivery, until: 16) { count in
            if count == 15 { unlink(folder.file("deaf")) }
        }
        let pauses = events.dropLast().map { event -> Duration? in
            if case .failed(let reason, let again) = event, reason.contains("status 1") { again } else { nil }
        }
        let expected: [Duration] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600].map { .seconds($0) }
        #expect(Array(pauses.prefix(14)) == expected)
        #expect(Array(waits.withLock { $0.prefix(14) }) == expected)
        // The same, until it was acknowledged.
        #expect(Set(try messages()).count == 1)
        let last = try #require(try ProgressFile(store: test.path, name: "deaf").read())
        #expect(last.failures == 0)
        #expect(last.anchor == (try await store.currentAnchor()))
    }

    /// A killed process continues at the receiver's position, not at its own.
    @Test func restartContinuesAtReceiverPosition() async throws {
        try test.folder.write([], to: "deaf")
        var delivery = try BackgroundDelivery(name: "again", receiver: listener)
        delivery.sleep = { _ in try await Task.sleep(for: .seconds(3600)) }
        try await begin(delivery)
        try await store.save(TestHealth.steps(1, 60))
        _ = try await run(delivery, until: 1)
        unlink(test.folder.file("deaf"))
        try await store.save(try TestHealth.pulse(60, 5))
        _ = try await run(delivery, until: 1, try test.another())
        let reported = try messages()
        #expect(reported.map(\.types) == [["stepCount"], ["heartRate", "stepCount"]])
        #expect(Set(reported.map(\.after)).count == 1)
        // Nothing is pending: the next delivery contains only new changes.
        try await store.save(TestHealth.steps(2, 30))
        _ = try await run(delivery, until: 1)
        #expect(try messages().last?.types == ["stepCount"])
    }

    @Test func hourlyAndDailyComeTogether() async throws {
        for (frequency, period) in [(BackgroundDelivery.Frequency.hourly, 3600), (.daily, 86_400)] {
            let clock = Mutex(TestHealth.now)
            let waits = Mutex<[Duration]>([])
            let store = try HealthStore(path: test.path, now: { clock.withLock { $0 } })
            let writer = self.store
            var delivery = try BackgroundDelivery(name: frequency.rawValue, frequency: frequency, receiver: listener)
            delivery.sleep = { pause in
                waits.withLock { $0.append(pause) }
                // Changes that arrive during the wait are delivered with the others.
                try await writer.save(.quantity(.bodyMass, try Amount(Double(period / 100), "kg"), from: TestHealth.time(1)))
                clock.withLock { $0.microseconds += pause.components.seconds * 1_000_000 }
            }
            try await begin(delivery)
            _ = try await run(delivery, until: 2, store) { count in
                clock.withLock { $0.microseconds += 60_000_000 }
                try await writer.save(TestHealth.steps(count + period, Int64(50 - count * 10)))
            }
            #expect(waits.withLock { $0 } == [.seconds(period - 60)])
            #expect(try messages().last?.types == ["bodyMass", "stepCount"])
        }
    }

    /// A command that reads late, or nothing, gets a message of any length all the same.
    @Test func aLongMessage() async {
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 1_000_000)
        let counts = BackgroundDelivery.Receiver.command(["/bin/sh", "-c", "test $(wc -c) = 1000000"])
        #expect(await counts.take(line, within: .seconds(600)) == nil)
        #expect(await BackgroundDelivery.Receiver.command(["/bin/true"]).take(line, within: .seconds(600)) == nil)
    }

    /// Files beside a delivery's progress are not another delivery's progress.
    @Test func namesThatLookLikeWorkingFiles() throws {
        let names = ["x", "x.lock", "x.new", "x-lock", "x.lock.new"]
        let files = try names.map { try ProgressFile(store: test.path, name: $0) }
        for (index, file) in files.enumerated() {
            var progress = DeliveryProgress(anchor: .beginning)
            progress.failures = index
            try file.write(progress)
        }
        #expect(try files.map { try $0.read()?.failures } == [0, 1, 2, 3, 4])
        #expect(throws: StoreError.self) { try ProgressFile(store: test.path, name: "x") }
        #expect(try files[0].read()?.failures == 0)
    }

    @Test func frequenciesDeterminePauses() {
        var progress = DeliveryProgress(anchor: .beginning)
        let now = TestHealth.now
        #expect(progress.pause(for: .daily, now: now) == .zero)
        progress.succeed(with: .beginning, at: now)
        #expect(progress.pause(for: .immediate, now: now) == .zero)
        #expect(progress.pause(for: .hourly, now: now) == .seconds(3600))
        #expect(progress.pause(for: .daily, now: Instant(microseconds: now.microseconds + 3_600_000_000)) == .seconds(82_800))
        #expect(progress.pause(for: .hourly, now: Instant(microseconds: now.microseconds + 4_000_000_000)) == .zero)
        // A clock that was set back.
        #expect(progress.pause(for: .hourly, now: Instant(seconds: 5)) == .seconds(3600))
    }

    @Test func aSocketAcknowledgesWithOk() async throws {
        let path = test.folder.file("socket")
        let listener = try ListeningSocket(path)
        var delivery = try BackgroundDelivery(name: "socket", receiver: .socket(path: path))
        delivery.sleep = { _ in }
        try await begin(delivery)
        try await store.save(TestHealth.steps(1, 60))
        // The first is answered with something else, the second not at all.
        let answers = Task.detached { try ["no\n", "", "ok\n"].map { try listener.answer($0) } }
        let events = try await run(delivery, until: 3)
        let lines = try await answers.value
        #expect(Set(lines).count == 1)
        #expect(lines[0].hasPrefix("{\"after\":\"0\",\"anchor\":\""))
        guard case .failed(let first, _) = events[0], case .failed(let second, _) = events[1], case .delivered = events[2]
        else {
            Issue.record("\(events)")
            return
        }
        #expect(first.contains("was not ok"))
        #expect(second.contains("not acknowledged"))
        // Nothing listens any more.
        #expect(await BackgroundDelivery.Receiver.socket(path: path + "/no").take([], within: .seconds(1)) != nil)
        let long = BackgroundDelivery.Receiver.socket(path: String(repeating: "x", count: 200))
        #expect(await long.take([], within: .seconds(1))?.contains("too long") == true)
    }

    @Test func hangingReceiverTimesOut() async throws {
        let mark = test.folder.file("ended")
        let command = BackgroundDelivery.Receiver.command(["/bin/sh", "-c", "sleep 600; touch '\(mark)'"])
        #expect(await command.take([10], within: .milliseconds(50))?.contains("within") == true)
        // Cancelled, it is ended at once.
        let waiting = Task { await command.take([10], within: .seconds(600)) }
        waiting.cancel()
        #expect(await waiting.value != nil)
        #expect(access(mark, F_OK) != 0)
        #expect(await BackgroundDelivery.Receiver.command(["/nowhere/at all"]).take([10], within: .seconds(5)) != nil)
        #expect(
            await BackgroundDelivery.Receiver.command(["false"]).take([10], within: .seconds(5))?.contains("status 1") == true)
        #expect(await BackgroundDelivery.Receiver.command(["true"]).take([10], within: .seconds(5)) == nil)
    }

    /// A receiver must begin again if the store was restored from a backup.
    @Test func reportsRestoredStore() async throws {
        let delivery = try BackgroundDelivery(name: "restored", receiver: listener)
        try await store.save(TestHealth.steps(1, 60))
        let copy = test.folder.file("copy.db")
        try SampleStore(path: test.path, access: .read).backup(to: copy)
        try await store.save(TestHealth.steps(2, 50))
        try ProgressFile(store: copy, name: "restored")
            .write(DeliveryProgress(anchor: try await store.currentAnchor()))
        let restored = try HealthStore(path: copy)
        _ = try await run(delivery, until: 1, restored)
        let reported = try #require(try messages().first)
        #expect(reported.resynchronise)
        #expect(reported.after == .beginning)
        #expect(reported.anchor == (try await restored.currentAnchor()))
        #expect(reported.types == ["stepCount"])
    }

    @Test func oneProcessAtATime() async throws {
        let delivery = try BackgroundDelivery(name: "one", receiver: listener)
        let file = try ProgressFile(store: test.path, name: "one")
        let error = await thrown(StoreError.self) { try await delivery.run(for: store) }
        #expect(error?.kind == .busy)
        try file.write(DeliveryProgress(anchor: .beginning))
        #expect(test.folder.mode("store.db-observer-one") == 0o600)
        try test.folder.write(Array("rubbish".utf8), to: "store.db-observer-one")
        #expect(throws: StoreError.self) { try file.read() }
    }

    @Test func namesAreOfFiles() {
        for name in ["", ".", "../x", "a/b", "a b", String(repeating: "a", count: 65)] {
            #expect(throws: HealthStoreError.self, "\(name)") { try BackgroundDelivery(name: name, receiver: listener) }
        }
        #expect(throws: HealthStoreError.self) { try BackgroundDelivery(name: "a", receiver: .command([])) }
    }
}

/// Listens at a path, one connection after the other.
private final class ListeningSocket: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && listen(descriptor, 8) == 0)
    }

    deinit { close(descriptor) }

    /// Takes one line, answers, and closes.
    func answer(_ answer: String) throws -> String {
        let connection = accept(descriptor, nil, nil)
        defer { close(connection) }
        var (line, byte): ([UInt8], UInt8) = ([], 0)
        while recv(connection, &byte, 1, 0) == 1, byte != 10 { line.append(byte) }
        _ = Array(answer.utf8).withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) }
        return String(decoding: line, as: UTF8.self)
    }
}
