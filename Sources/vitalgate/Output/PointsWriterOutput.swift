import CommandLineKit
import Formats
import HealthModel

/// Writes the points of a series as they are read, one per line:
///
///     {"time":"2026-11-20T06:31:00.000000Z","latitude":51.44,"longitude":5.47,"altitude":17.2}
///     {"time":"2026-11-20T06:31:00.001953Z","voltage":-12.5}
///
/// Times are instants. An ECG's times are computed from its sampling frequency, if it has one.
struct PointsWriterOutput {
    let context: CommandContext

    func write(_ sample: Sample) throws -> ExitCode {
        guard let points = ContentFields.points(of: sample), let content = sample.body?.content else {
            context.note("vitalgate: \(sample.identity) (\(sample.origin.type.id)) has no points")
            return .dataError
        }
        guard try ShowCommand.isWhole(content, sample, context) else { return .dataError }
        let output = context.streams.output
        let names = points.columns.map(\.name)
        let time = names.firstIndex(of: Points.time)
        let step = time == nil ? Self.step(of: sample) : nil
        let hasTime = time != nil || step != nil
        let others = names.indices.filter { $0 != time }
        var reader = try PointsReader(points, content)
        var bytes: [UInt8] = []
        if context.format == .csv {
            context.csv.append(row: (hasTime ? [Points.time] : []) + others.map { names[$0] }, to: &bytes)
        }
        var index = 0
        while let point = try reader.next() {
            var moment: String?
            if let time, let offset = point[time].flatMap({ Int64(exactly: $0.doubleValue.rounded()) }) {
                moment = Instant(microseconds: sample.start.microseconds &+ offset).description
            } else if let step {
                let offset = Int64((Double(index) * step).rounded())
                moment = Instant(microseconds: sample.start.microseconds &+ offset).description
            }
            index += 1
            if context.format == .csv {
                context.csv.append(row: (hasTime ? [moment ?? ""] : []) + others.map { point[$0]?.text ?? "" }, to: &bytes)
            } else {
                var object = JSONObject([Points.time: ifPresent(hasTime ? moment : nil)])
                for column in others { object.set(names[column], raw: Array((point[column]?.text ?? "null").utf8)) }
                bytes += object.line
            }
            guard bytes.count > 32_768 else { continue }
            try output.write(bytes)
            bytes.removeAll(keepingCapacity: true)
        }
        try output.write(bytes)
        return .success
    }

    /// The microseconds between two voltages, or `nil` if the frequency is unknown.
    private static func step(of sample: Sample) -> Double? {
        guard sample.origin.kind == .electrocardiogram, let hertz = try? Unit(ucum: "Hz"),
            let recording = try? sample.body?.decoded(as: Electrocardiogram.self),
            let frequency = recording.samplingFrequency?.value(in: hertz), frequency.isFinite, frequency > 1e-3
        else { return nil }
        return 1e6 / frequency
    }
}
