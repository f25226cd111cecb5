import HealthModel

package struct ElectrocardiogramTrace: Sendable {
    /// The voltages in millivolts, evenly spaced. A missing one is `nil`.
    package let voltages: [Double?]
    /// The number of voltages per second.
    package let frequency: Double
    /// The duration of the whole recording in seconds, which may be longer than ``voltages``.
    package let seconds: Double

    private static let maximumSeconds = 120.0

    /// Returns `nil` for another kind of sample, and without voltages in a known unit.
    package init?(_ sample: Sample) {
        guard sample.origin.kind == .electrocardiogram, let body = sample.body, let content = body.content,
            let reported = try? body.decoded(as: Electrocardiogram.self), let hertz = try? Unit(ucum: "Hz"),
            let millivolt = try? Unit(ucum: "mV"), let frequency = reported.samplingFrequency?.value(in: hertz), frequency > 0,
            frequency < 5000,
            let column = reported.points.columns.firstIndex(where: { $0.name == Electrocardiogram.voltage.name }),
            let unit = reported.points.columns[column].unit.flatMap({ try? Unit(ucum: $0) }),
            let conversion = try? unit.conversion(to: millivolt), var reader = try? PointsReader(reported.points, content)
        else { return nil }
        var voltages: [Double?] = []
        while voltages.count < Int(Self.maximumSeconds * frequency), let point = try? reader.next() {
            voltages.append(point[column].map { conversion.convert($0) })
        }
        guard voltages.contains(where: { $0 != nil }) else { return nil }
        (self.voltages, self.frequency, seconds) = (voltages, frequency, Double(reported.points.count) / frequency)
    }
}
