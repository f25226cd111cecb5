import HealthModel
import Pipeline

@testable import FileSource

/// The result of reading an activity file.
struct ImportedActivity {
    var readings: [Reading] = []
    var refused: [Refusal] = []
    /// Counts by name, for complete rows and parts of rows.
    var counted: [String: Int] = [:]
    var error: SourceError?

    init(tcx bytes: some Collection<UInt8>) throws {
        let file = TemporaryFile(bytes)
        read(TCXFileSource(try InputFile(path: file.path), received: Instant(seconds: 1_800_000_000)))
    }

    init(fit bytes: some Collection<UInt8>) throws {
        let file = TemporaryFile(bytes)
        read(FITFileSource(try InputFile(path: file.path), received: Instant(seconds: 1_800_000_000)))
    }

    private mutating func read(_ source: any FrameSource) {
        let interpreter = ActivityInterpreter(registry: OriginRegistry(person: "me"))
        do {
            try source.forEachFrame { frame in
                do throws(Refusal) {
                    if case .skipped(let kind) = try interpreter.interpret(frame, into: &readings) {
                        counted[kind.name, default: 0] += 1
                    }
                } catch {
                    refused.append(error)
                }
                guard let rest = interpreter.takeLeftOut() else { return }
                refused += rest.refusals
                for (kind, count) in rest.skipped { counted[kind.name, default: 0] += count }
            }
        } catch {
            self.error = error as? SourceError
        }
    }

    /// The samples as lines: type, value, unit, seconds after the first of May 2026, offset.
    var lines: [String] {
        readings.compactMap { reading in
            guard case .instants(let start, let end, let offset) = reading.time, start == end else { return nil }
            guard reading.origin.type.kind == .quantity else { return nil }
            let seconds = start.microseconds / 1_000_000 - 1_777_593_600
            return "\(reading.origin.type.id) \(reading.numeral.text) \(reading.unit.code) \(seconds) "
                + (offset.map { "\($0)" } ?? "-")
        }
    }

    func of(_ kind: SampleKind) -> [Reading] { readings.filter { $0.origin.type.kind == kind } }

    var workout: Workout? { try? of(.workout).first?.body?.decoded(as: Workout.self) }
}

/// Builds a FIT file from any bytes, with correct checksums. The errors are in the content.
struct FITBytes {
    var data: [UInt8] = []

    var file: [UInt8] {
        var bytes: [UInt8] = [12, 0x20, 0x54, 0x08]
        for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: data.count >> shift)) }
        bytes += Array(".FIT".utf8) + data
        let sum = Self.checksum(bytes)
        return bytes + [UInt8(sum & 0xFF), UInt8(sum >> 8)]
    }

    /// Appends a definition and a message: fields with number, bytes and type, least significant byte first.
    mutating func add(_ message: UInt16, _ fields: [(number: UInt8, size: Int, type: UInt8, value: UInt64)]) {
        data += [0x40, 0, 0, UInt8(message & 0xFF), UInt8(message >> 8), UInt8(fields.count)]
        for field in fields { data += [field.number, UInt8(field.size), field.type] }
        data.append(0)
        for field in fields {
            for index in 0..<field.size { data.append(UInt8(truncatingIfNeeded: field.value >> UInt64(8 * index))) }
        }
    }

    /// Appends a file_id of a type: 4 is an activity.
    mutating func addFile(_ type: UInt64) { add(0, [(0, 1, 0x00, type)]) }

    /// Appends a point with a heart rate, and a position if there is one.
    mutating func addPoint(_ time: UInt64, heartRate: UInt64, place: UInt64? = nil) {
        var fields: [(number: UInt8, size: Int, type: UInt8, value: UInt64)] = [
            (253, 4, 0x86, time), (3, 1, 0x02, heartRate),
        ]
        if let place { fields += [(0, 4, 0x85, place), (1, 4, 0x85, place)] }
        add(20, fields)
    }

    /// Bit by bit, as the program's is by a table.
    static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt16 = 0
        for byte in bytes {
            sum ^= UInt16(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xA001 : sum >> 1 }
        }
        return sum
    }
}
