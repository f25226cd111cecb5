import CommandLineKit
import ExportEngine
import Formats
import FoundationEssentials
import SampleStore

/// Writes the result of a comparison. It has counts only, no values.
struct VerifyReport {
    let context: CommandContext
    let differences: TargetDifferences
    /// The number of samples that the target has refused.
    let refused: Int
    /// The types and days whose counts differ, or `nil` if they were not counted.
    let days: [DayDifference]?

    /// The number of days in a line for the center of a fleet, which has a limit (`OrderResult.maximumOutputLength`).
    private static let maximumDays = 40

    func write() throws {
        let counts = [
            ("equal", differences.equal), ("missing", differences.missing), ("differing", differences.differing),
            ("surplus", differences.surplus), ("foreign", differences.foreign), ("setAside", refused),
        ]
        guard context.format == .ndjson else {
            try TableOutput(context: context).write(header: counts.map(\.0), rows: [counts.map { "\($0.1)" }])
            if let days, !days.isEmpty {
                try context.streams.output.write("\n")
                try TableOutput(context: context).write(
                    header: DayLine.header, rows: days.map { [$0.type, $0.day, "\($0.here)", "\($0.there)"] })
            }
            return
        }
        var object = JSONObject()
        for (name, count) in counts { object.set(name, count) }
        if let days {
            object.set("days", days.prefix(Self.maximumDays).map { DayLine($0).object })
            object.set("daysLeftOut", max(0, days.count - Self.maximumDays))
        }
        try context.streams.output.write(object.line)
    }
}

/// A type and a day of a comparison in JSON.
struct DayLine: Decodable {
    var type: String
    var day: String
    /// The number of samples in the store.
    var here: Int
    /// The number of samples at the target.
    var there: Int

    static let header = ["type", "day", "here", "there"]

    init(_ difference: DayDifference) {
        (type, day, here, there) = (difference.type, difference.day, difference.here, difference.there)
    }

    var object: JSONObject {
        ["type": type, "day": day, "here": here, "there": there]
    }
}
