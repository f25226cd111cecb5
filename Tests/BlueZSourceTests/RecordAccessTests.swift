import Testing

@testable import BlueZSource

/// A meter in memory, and the dialogue with it.
struct RecordAccessTests {
    private struct Meter {
        var records: [(measurement: [UInt8], context: [UInt8]?)] = []
        var supportsCount = true
        var supportsLast = true
        var supportsFrom = true
        var busy = 0
        var delivered: [String] = []
        var asked: [String] = []
        var cursor: RecordCursor?
        var ending: RecordAccess.Ending?
        var now: Duration = .zero
        var description = RecordAccessDescription.glucose

        static func hex(_ bytes: [UInt8]) -> String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
        }

        mutating func add(_ number: UInt16, _ value: UInt8, context: Bool = false) {
            let bytes = [UInt8(number & 0xFF), UInt8(number >> 8)]
            records.append(([context ? 0x10 : 0x00] + bytes + [value], context ? [0x00] + bytes + [value] : nil))
        }

        /// One session from a cursor to its end.
        mutating func collect(from cursor: RecordCursor?) {
            (delivered, asked, ending) = ([], [], nil)
            self.cursor = cursor
            var access = RecordAccess(description, from: cursor)
            var commands = access.handle(.start, at: now)
            while ending == nil {
                if commands.isEmpty, let due = access.deadline {
                    now = due
                    commands = access.handle(.tick, at: now)
                }
                let command = commands.removeFirst()
                switch command {
                case .write(let bytes):
                    asked.append(Self.hex(bytes))
                    commands += access.handle(.written, at: now)
                    for event in answer(bytes) { commands += access.handle(event, at: now) }
                case .deliver(let measurement, let context):
                    delivered.append(Self.hex(measurement) + (context.map { "+" + Self.hex($0) } ?? ""))
                case .deliverContext(let context): delivered.append("+" + Self.hex(context))
                case .commit(let cursor):
                    self.cursor = cursor
                    commands += access.handle(.committed, at: now)
                case .end(let ending): self.ending = ending
                }
            }
        }

        private mutating func answer(_ request: [UInt8]) -> [RecordAccess.Event] {
            func response(_ code: UInt8) -> [RecordAccess.Event] { [.indicated([0x06, 0x00, request[0], code])] }
            if request[0] == 0x03 { return response(1) }
            if busy > 0 {
                busy -= 1
                return response(10)
            }
            if request[0] == 0x04 {
                let count = records.count
                return supportsCount ? [.indicated([0x05, 0x00, UInt8(count & 0xFF), UInt8(count >> 8)])] : response(2)
            }
            var chosen = records
            if request[1] == 0x06 {
                guard supportsLast else { return response(4) }
                chosen = Array(records.suffix(1))
            } else if request[1] == 0x03 {
                guard supportsFrom else { return response(4) }
                let from = UInt16(request[3]) | UInt16(request[4]) << 8
                chosen = records.filter { UInt16($0.measurement[1]) | UInt16($0.measurement[2]) << 8 >= from }
            }
            if chosen.isEmpty { return response(6) }
            return chosen.flatMap { record in
                [.measured(record.measurement)] + (record.context.map { [RecordAccess.Event.context($0)] } ?? [])
            } + response(1)
        }
    }

    @Test func theFirstTimeAllRecords() {
        var meter = Meter()
        for number in 1...500 { meter.add(UInt16(number), UInt8(number & 0xFF)) }
        meter.collect(from: nil)
        #expect(meter.asked == ["0401", "0101"])
        #expect(meter.delivered.count == 500)
        #expect(meter.ending == .complete(records: 500))
        #expect(meter.cursor?.number == 500)
        #expect(meter.cursor?.count == 500)
    }

    @Test func collectsOnlyNewRecords() {
        var meter = Meter()
        for number in 1...5 { meter.add(UInt16(number), 1) }
        meter.collect(from: nil)
        let cursor = meter.cursor
        meter.collect(from: cursor)
        #expect(meter.asked == ["0401", "0106"])
        #expect(meter.delivered == [])
        meter.add(6, 7, context: true)
        meter.collect(from: cursor)
        #expect(meter.asked == ["0401", "0106", "0103010500"])
        #expect(meter.delivered == ["00050001", "10060007+00060007"])
        #expect(meter.cursor?.number == 6)
    }

    @Test func anEmptyMeter() {
        var meter = Meter()
        meter.collect(from: nil)
        #expect(meter.asked == ["0401"])
        #expect(meter.ending == .complete(records: 0))
        meter.supportsCount = false
        meter.collect(from: nil)
        #expect(meter.asked == ["0401", "0101"])
        #expect(meter.ending == .complete(records: 0))
    }

    /// Story 25: the record numbers start again, below or up to the old ones, or continue after a wrap.
    @Test(arguments: [
        [1, 2, 3], [3, 4, 5], [5, 6], [1, 2, 3, 4, 5], [65_534, 65_535, 0, 1], [5, 1, 2],
    ]) func numbersThatDoNotGoOn(numbers: [UInt16]) {
        var meter = Meter()
        for number in 1...5 { meter.add(UInt16(number), 1) }
        meter.collect(from: nil)
        let cursor = meter.cursor
        meter.records.removeAll()
        for number in numbers { meter.add(number, 2) }
        meter.collect(from: cursor)
        #expect(meter.asked.last == "0101")
        #expect(Set(meter.delivered).count == numbers.count)
        #expect(meter.cursor?.number == numbers.last)
    }

    @Test func wrapsAfterTheLargestNumber() {
        var meter = Meter()
        for number in 65_530...65_534 { meter.add(UInt16(number), 1) }
        meter.collect(from: nil)
        let cursor = meter.cursor
        meter.add(65_535, 2)
        meter.add(0, 3)
        meter.collect(from: cursor)
        #expect(meter.asked.last == "0101")
        #expect(meter.delivered.suffix(2) == ["00FFFF02", "00000003"])
        #expect(meter.cursor?.number == 0)
    }

    /// Story 24: the cursor is the device's own numbering and not a time. A full memory that drops its oldest records loses no new ones.
    @Test func aFullMemory() {
        var meter = Meter()
        for number in 1...10 { meter.add(UInt16(number), 1) }
        meter.collect(from: nil)
        let cursor = meter.cursor
        for number in 11...14 { meter.add(UInt16(number), 1) }
        meter.records.removeFirst(4)
        meter.collect(from: cursor)
        #expect(meter.asked.last == "0103010A00")
        #expect(meter.delivered.count == 5)
    }

    @Test func metersThatKnowLess() {
        var meter = Meter()
        meter.add(1, 1)
        meter.collect(from: nil)
        let cursor = meter.cursor
        meter.add(2, 1)
        meter.supportsLast = false
        meter.collect(from: cursor)
        #expect(meter.asked == ["0401", "0106", "0103010100"])
        #expect(meter.ending == .complete(records: 2))
        meter.supportsFrom = false
        meter.supportsCount = false
        meter.collect(from: cursor)
        #expect(meter.asked == ["0401", "0106", "0103010100", "0101"])
        #expect(meter.ending == .complete(records: 2))
    }

    @Test func restartsOnceIfBusy() {
        var meter = Meter()
        meter.add(1, 1)
        meter.busy = 1
        meter.collect(from: nil)
        #expect(meter.asked == ["0401", "0300", "0401", "0101"])
        #expect(meter.ending == .complete(records: 1))
    }

    /// A device that was aborted and is not through with it yet: the same request again, each time a little later.
    @Test func busyAfterAnAbortIsAskedLater() {
        var meter = Meter()
        meter.add(1, 1)
        meter.busy = 3
        meter.collect(from: nil)
        #expect(meter.asked == ["0401", "0300", "0401", "0401", "0401", "0101"])
        #expect(meter.ending == .complete(records: 1))
        #expect(meter.now == .milliseconds(1500))
        meter.busy = 100
        meter.collect(from: nil)
        #expect(meter.asked == ["0401", "0300", "0401", "0401", "0401", "0401", "0401"])
        #expect(meter.ending == .incomplete("the device is busy"))
        #expect(meter.cursor == nil)
    }

    /// The same if the device refuses the request (0xFE, procedure already in progress), or if BlueZ is still writing.
    @Test func requestsThatAreNotTakenYet() {
        var access = RecordAccess(.glucose, from: nil)
        _ = access.handle(.start, at: .zero)
        #expect(access.handle(.writeFailed(.inProgress), at: .zero) == [])
        #expect(access.handle(.written, at: .zero) == [])
        #expect(access.deadline == .milliseconds(500))
        #expect(access.handle(.tick, at: .milliseconds(500)) == [.write([4, 1])])
        #expect(access.handle(.writeFailed(.procedureRunning), at: .seconds(1)) == [.write([3, 0])])
        #expect(access.handle(.writeFailed(.procedureRunning), at: .seconds(1)) == [])
        #expect(access.handle(.tick, at: .seconds(2)) == [.write([3, 0])])
        #expect(access.handle(.indicated([6, 0, 3, 1]), at: .seconds(2)) == [.write([4, 1])])
        #expect(access.handle(.writeFailed(.procedureRunning), at: .seconds(2)) == [])
        #expect(access.handle(.tick, at: .seconds(4)) == [.write([4, 1])])
        #expect(access.handle(.indicated([5, 0, 0, 0]), at: .seconds(4)) == [.commit(nil)])
    }

    @Test func silenceIsAbortedAfterThirtySeconds() {
        var access = RecordAccess(.glucose, from: nil)
        #expect(access.handle(.start, at: .zero) == [.write([4, 1])])
        _ = access.handle(.written, at: .seconds(1))
        #expect(access.handle(.tick, at: .seconds(30)) == [])
        #expect(access.handle(.tick, at: .seconds(31)) == [.write([3, 0])])
        #expect(access.handle(.tick, at: .seconds(61)) == [.end(.incomplete("the device stopped responding"))])
    }

    /// Story 9: if only the first part of a reading arrived, it is not handed on. The cursor stays, so the reading is sent again.
    @Test func halfARecordIsNotHandedOn() {
        var access = RecordAccess(.glucose, from: nil)
        _ = access.handle(.start, at: .zero)
        _ = access.handle(.indicated([5, 0, 2, 0]), at: .zero)
        #expect(access.handle(.measured([0x10, 1, 0, 9]), at: .zero) == [])
        #expect(access.handle(.linkLost, at: .zero) == [.end(.incomplete("the link was lost"))])
    }

    /// If an announced context does not arrive, the measurement stays as it is. A context with another number belongs to no measurement.
    @Test func contexts() {
        var access = RecordAccess(.glucose, from: nil)
        _ = access.handle(.start, at: .zero)
        _ = access.handle(.indicated([5, 0, 2, 0]), at: .zero)
        _ = access.handle(.measured([0x10, 1, 0, 9]), at: .zero)
        #expect(access.handle(.measured([0x10, 2, 0, 9]), at: .zero) == [.deliver(measurement: [0x10, 1, 0, 9], context: nil)])
        #expect(
            access.handle(.context([0, 7, 0]), at: .zero) == [
                .deliver(measurement: [0x10, 2, 0, 9], context: nil), .deliverContext([0, 7, 0]),
            ])
        let commands = access.handle(.indicated([6, 0, 1, 1]), at: .zero)
        #expect(commands.count == 1)
        // Nothing ends before the caller has committed.
        #expect(access.handle(.tick, at: .seconds(1000)) == [])
        #expect(access.handle(.committed, at: .seconds(1000)) == [.end(.complete(records: 2))])
    }

    @Test func rejectedRequestEndsProcedure() {
        var access = RecordAccess(.pulseOximeter, from: nil)
        _ = access.handle(.start, at: .zero)
        #expect(access.handle(.writeFailed(.notConnected), at: .zero) == [.end(.incomplete("the request was rejected"))])
    }

    @Test func aPersonAborts() {
        var access = RecordAccess(.glucose, from: nil)
        _ = access.handle(.start, at: .zero)
        #expect(access.handle(.abort, at: .zero) == [.write([3, 0])])
        #expect(access.handle(.indicated([6, 0, 3, 1]), at: .zero) == [.end(.incomplete("given up after 0 records"))])
    }

    /// Several records in one notification. A size of zero ends it.
    @Test func continuousGlucose() {
        let record: (UInt16) -> [UInt8] = { [6, 0, 0x50, 0x00, UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let numbers = RecordNumber.numbers(in: record(300) + record(301) + [0, 1, 2, 3], .continuousGlucose)
        #expect(numbers.map(\.number) == [300, 301])
        #expect(RecordNumber.numbers(in: [200, 0, 0], .continuousGlucose) == [])
        var access = RecordAccess(
            .continuousGlucose, from: numbers.last.map { RecordCursor(number: $0.number, fingerprint: $0.fingerprint, count: 2) })
        _ = access.handle(.start, at: .zero)
        #expect(access.handle(.indicated([5, 0, 4, 0]), at: .zero) == [.write([1, 6])])
        _ = access.handle(.measured(record(303)), at: .zero)
        #expect(access.handle(.indicated([6, 0, 1, 1]), at: .zero) == [.write([1, 3, 1, 45, 1])])
        _ = access.handle(.measured(record(301) + record(302) + record(303)), at: .zero)
        guard case .commit(let cursor)? = access.handle(.indicated([6, 0, 1, 1]), at: .zero).last else {
            Issue.record("no commit")
            return
        }
        #expect(cursor?.number == 303)
    }

    @Test func pulseOximetersGiveAllEachTime() {
        var meter = Meter()
        meter.description = .pulseOximeter
        meter.records = [([0, 1, 2, 3, 4], nil), ([0, 1, 2, 3, 5], nil)]
        meter.collect(from: nil)
        #expect(meter.asked == ["0401", "0101"])
        #expect(meter.delivered.count == 2)
    }
}
