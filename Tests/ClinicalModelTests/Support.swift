import ClinicalModel
import FileSource
import FoundationEssentials
import HealthModel
import Pipeline
import Testing

/// The result of a file of resources, without a store.
struct Outcome {
    var readings: [Reading] = []
    var skipped: [String] = []
    var refusals: [Refusal] = []
    /// Why the file was not read to its end.
    var failure: SourceError?

    /// 2026-11-24T12:00:00Z.
    static let now = Instant(seconds: 1_795_521_600)

    init(_ bytes: [UInt8], release: FHIRRelease? = nil) throws {
        let interpreter = ClinicalInterpreter(registry: OriginRegistry(person: "me"), release: release)
        do {
            try ResourceFileSource(bytes: bytes, received: Self.now).forEachFrame { frame in
                do throws(Refusal) {
                    let count = readings.count
                    switch try interpreter.interpret(frame, into: &readings) {
                    case .skipped(let kind): skipped.append(kind.name)
                    case .readings: #expect(readings.count == count + 1)
                    case .characteristics, .notData: Issue.record("no outcome of a resource")
                    }
                } catch {
                    refusals.append(error)
                }
            }
        } catch let error as SourceError {
            failure = error
        }
    }

    init(_ text: String, release: FHIRRelease? = nil) throws { try self.init(Array(text.utf8), release: release) }

    /// In words: each outcome once, with how often.
    var text: String {
        var counts: [String: Int] = [:]
        for reading in readings { counts["\(reading.origin.type.id) \(reading.resource.version)", default: 0] += 1 }
        for kind in skipped { counts["skipped \(kind)", default: 0] += 1 }
        for refusal in refusals { counts["refused \(refusal.reason)", default: 0] += 1 }
        if let failure { counts["failed \(failure.reason)"] = 1 }
        return counts.sorted { $0.key < $1.key }.map { $0.value > 1 ? "\($0.value) x \($0.key)" : $0.key }.joined(
            separator: " | ")
    }
}

extension Reading {
    /// The record that was read from the resource.
    var resource: ClinicalRecord {
        (try? body?.decoded(as: ClinicalRecord.self))
            ?? ClinicalRecord(displayName: "", resourceType: "", identifier: "", version: "")
    }

    /// The resource, byte for byte.
    var bytes: [UInt8] { (try? body?.content?.bytes()) ?? [] }
}

enum Files {
    static let folder = String(#filePath.prefix { $0 != "\0" }.dropLast("Support.swift".count)) + "Files/"

    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: folder + path)))
    }

    static func text(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

    /// Rows of a table, without its heading.
    static func rows(_ path: String) throws -> [[String]] {
        try text(path).split(separator: "\n").dropFirst().map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }
}
