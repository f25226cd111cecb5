import Foundation

/// Weighs somebody over Vitalgate's API: asks for authorization, reads, follows, saves, deletes.
///
///     VITALGATE_TOKEN=… APIClient http://127.0.0.1:8642 71.4
@main struct APIClient {
    private struct Samples: Decodable { var samples: [Sample] }
    private struct Saved: Decodable {
        struct One: Decodable {
            var uuid: String
            var outcome: String
        }
        var samples: [One]
    }
    private struct Gone: Decodable { var deleted: String }
    private struct Days: Decodable {
        struct Day: Decodable {
            var start: String
            var min: Double?
            var max: Double?
            var average: Double?
        }
        var statistics: [Day]
    }

    static func main() async {
        let words = CommandLine.arguments
        guard words.count == 3, let address = URL(string: words[1]), let kilograms = Double(words[2]),
            let token = ProcessInfo.processInfo.environment["VITALGATE_TOKEN"]
        else {
            say("APIClient ADDRESS KILOGRAMS, with the client's token in VITALGATE_TOKEN")
            exit(64)
        }
        do {
            try await weigh(kilograms, Vitalgate(address: address, token: token))
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    private static func weigh(_ kilograms: Double, _ hub: Vitalgate) async throws {
        say("asking for heartRate and bodyMass; answer with 'vitalgate clients grant'")
        try await hub.requestAuthorization(read: ["heartRate"], write: ["bodyMass"])
        // No answer may also mean that reading was refused: the two look alike.
        let latest: Samples = try await hub.get("v1/latest", ["types": "heartRate"])
        for sample in latest.samples { say("latest heart rate: \(short(sample.value)) \(sample.unit ?? "") at \(sample.start)") }
        let days: Days = try await hub.get("v1/statistics", ["type": "heartRate", "every": "1d", "zone": "UTC"])
        for day in days.statistics {
            let average = String(format: "%.1f", day.average ?? .nan)
            say("\(day.start.prefix(10)): \(short(day.min)) to \(short(day.max)), on average \(average)")
        }

        var events = ChangeStream.events(of: try hub.request("GET", "v1/changes/stream", ["types": "bodyMass"]))
            .makeAsyncIterator()
        _ = try await events.next()  // it listens
        let now = Date().formatted(.iso8601)
        let weight = Sample(
            type: "bodyMass", start: now, value: kilograms, unit: "kg",
            metadata: .init(syncIdentifier: "swift-scale-\(now)", syncVersion: 1))
        let saved: Saved = try await hub.post("v1/samples", weight)
        guard let one = saved.samples.first, let added = try await events.next() else { return }
        let sample = try JSONDecoder().decode(Sample.self, from: Data(added.data.utf8))
        say("\(one.outcome), and \(added.name): \(short(sample.value)) \(sample.unit ?? "")")
        try await hub.delete(one.uuid)
        guard let event = try await events.next() else { return }
        let deleted = try JSONDecoder().decode(Gone.self, from: Data(event.data.utf8))
        say("\(event.name): \(deleted.deleted == one.uuid ? "the same" : "another")")
    }

    private static func short(_ value: Double?) -> String { String(format: "%g", value ?? .nan) }

    /// At once, also into a pipe.
    private static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}
