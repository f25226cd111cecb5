import PipelineTesting
import Testing

/// Exports as ZIPs, complete, cut at a random place or with one byte flipped, and undone imports, through the program. The content of the
/// store, its ledger and its sums match a dictionary. Few times and few values, so that the archives' readings collide.
@Suite struct ArchiveModelTests {
    private struct Reading: Hashable {
        var second: Int
        var value: Int
    }

    /// The guarantees of a store: readings with their imports.
    private struct Model {
        var live: [Reading: Int] = [:]
        var dead: Set<Reading> = []

        /// How many are new.
        mutating func take(_ readings: [Reading], ingest: Int) -> Int {
            var stored = 0
            for reading in readings where live[reading] == nil && !dead.contains(reading) {
                live[reading] = ingest
                stored += 1
            }
            return stored
        }

        mutating func undo(_ ingest: Int) {
            for (reading, ingestID) in live where ingestID == ingest {
                live[reading] = nil
                dead.insert(reading)
            }
        }
    }

    private static func document(_ readings: [Reading]) -> [UInt8] {
        let records = readings.map { reading in
            let time = "2026-03-28 10:00:1\(reading.second) +0000"
            return """
                <Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Watch" unit="count/min" creationDate="\(time)" \
                startDate="\(time)" endDate="\(time)" value="\(reading.value)"/>

                """
        }
        return Array("<HealthData locale=\"en_GB\">\n\(records.joined())</HealthData>\n".utf8)
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func damagedArchiveStoresNothing(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TestFolder()
        var model = Model()
        var imports: [Int] = []
        var reported: [String] = []
        for step in 0..<14 {
            let comment: Comment = "seed \(seed), step \(step)"
            if Int.random(in: 0..<5, using: &random) == 0, let undone = imports.randomElement(using: &random) {
                #expect(try folder.vitalgate("ledger", "undo", "\(undone)").status == 0, comment)
                model.undo(undone)
                imports.removeAll { $0 == undone }
            } else {
                let readings = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    Reading(second: Int.random(in: 0..<5, using: &random), value: 60 + Int.random(in: 0..<3, using: &random))
                }
                let document = Self.document(readings)
                let name = "apple_health_export/export.xml"
                var bytes = ZIPFile(members: [.init(name: name, document)]).bytes
                // Behind the local header and the name.
                let content = 30 + name.utf8.count..<30 + name.utf8.count + document.count
                var isWhole: Bool? = true
                switch Int.random(in: 0..<3, using: &random) {
                case 0:
                    bytes.removeLast(Int.random(in: 1...bytes.count - 1, using: &random))
                    // An archive that is cut after its readings may still be readable, and then gives all of them.
                    isWhole = bytes.count < content.upperBound ? false : nil
                case 1:
                    let place = Int.random(in: bytes.indices, using: &random)
                    bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                    // A header has unused bytes.
                    isWhole = content.contains(place) ? false : nil
                default: break
                }
                let run = try folder.vitalgate("import", try folder.write("export.zip", bytes), "--format", "ndjson")
                let account = run.last.isEmpty ? nil : try Account(run.last)
                let taken = isWhole ?? (run.status == 0)
                #expect((run.status == 0) == taken, "\(comment) \(run.errors)")
                #expect(account?.addsUp != false, comment)
                if taken, let ingest = account?.ingest {
                    let stored = model.take(readings, ingest: ingest)
                    #expect(account?.stored == stored, comment)
                    #expect(account?.duplicate == readings.count - stored, comment)
                    imports.append(ingest)
                } else {
                    #expect((account?.stored ?? 0) == 0 && (account?.duplicate ?? 0) == 0, comment)
                }
                reported.append(taken ? "whole" : "broken")
            }
            guard folder.exists("store.db") else { continue }
            let found = try folder.vitalgate("query", "heartRate", "--format", "csv").lines.dropFirst()
            #expect(found.count == model.live.count, comment)
            let lines = try folder.vitalgate("query", "heartRate", "--format", "ndjson").lines
            let expected = model.live.keys.map {
                "\"value\":\($0.value).0,\"unit\":\"/min\",\"start\":\"2026-03-28T10:00:1\($0.second)."
            }
            #expect(expected.allSatisfy { part in lines.count { $0.contains(part) } == 1 }, "\(comment): \(lines)")
        }
        #expect(reported.contains("whole") && reported.contains("broken"))
        #expect(try folder.vitalgate("store", "check", "--deep").status == 0)
    }
}
