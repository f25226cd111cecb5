import FoundationEssentials
import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import FileSource

/// The readings of an export.
struct ReadExport {
    var readings: [Reading] = []
    var refused: [String] = []
    var skipped: [String: Int] = [:]
    var notes: [String] = []
    var error: SourceError?

    static let received = Instant(seconds: 1_790_000_000)

    init(_ bytes: [UInt8], grouping: PeriodGrouping? = nil, zone: TimeZoneRules? = nil) {
        read(bytes, HealthAutoExportInterpreter(registry: OriginRegistry(person: "me"), grouping: grouping, zone: zone))
    }

    /// Reads several requests of a case.
    init(case name: String) throws {
        for bytes in try Self.requests(of: name) {
            read(bytes, HealthAutoExportInterpreter(registry: OriginRegistry(person: "me")))
        }
    }

    private mutating func read(_ bytes: [UInt8], _ interpreter: HealthAutoExportInterpreter) {
        let source = HealthAutoExportFileSource(bytes: bytes, received: Self.received)
        do {
            try source.forEachFrame { frame in
                do throws(Refusal) {
                    if case .skipped(let kind) = try interpreter.interpret(frame, into: &readings) {
                        skipped[kind.name, default: 0] += 1
                    }
                } catch {
                    refused.append(error.reason)
                }
                for (kind, count) in interpreter.takeLeftOut()?.skipped ?? [:] { skipped[kind.name, default: 0] += count }
            }
        } catch let fault as SourceError {
            error = fault
        } catch {
            Issue.record(error)
        }
        notes += interpreter.notes
    }

    static func requests(of name: String) throws -> [[UInt8]] {
        let files = ["\(name).json"] + (1...9).map { "\(name).\($0).json" }
        return files.compactMap { try? testFile("health-auto-export/\($0)").bytes }
    }
}

/// The readings that a case expects.
struct ExpectedExport: Decodable {
    struct Sample: Decodable {
        var type: String
        var value: Double
        var unit: String
        var start: String
        var end: String?
        var zone: String
        var sources: [String]
        var statistic: String
        var metadata: [String: String]?
        var also: Also?
    }
    struct Also: Decodable {
        var value: Double
        var unit: String
    }
    struct Category: Decodable {
        var type: String
        var `case`: String?
        var start: String
        var end: String
        var sources: [String]
    }
    struct Workout: Decodable {
        var activity: String
        var start: String
        var end: String
        var duration: Double
        var statistics: [String: [String: Scalar]]
        var route: [Point]?
    }
    enum Scalar: Decodable, Equatable {
        case number(Double)
        case text(String)
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }
    struct Point: Decodable { var time: String }
    struct Night: Decodable {
        var start: String
        var end: String
        var inBedStart: String?
        var inBedEnd: String?
        var minutes: [String: Double]
    }
    struct Recovery: Decodable {
        var time: String
        var bpm: Double
    }
    var samples: [Sample]?
    var categories: [Category]?
    var workouts: [Workout]?
    var night: Night?
    var recovery: [Recovery]?
    var skipped: [String: Int]?

    init(case name: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(try testFile("health-auto-export/\(name).expected.json").bytes))
    }
}
