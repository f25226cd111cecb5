import HealthModel

/// The parts of a measurement that failed are not measurements, however plausible each of them is.
extension Gate {
    /// Values without which nothing else in their frame was measured: the pulse of a cuff comes from its pressure, and the fat of a scale
    /// from its weight. A missing pulse does not affect the pressure.
    private static let carriers: Set<SampleType> = [
        .bloodPressureSystolic, .bloodPressureDiastolic, .oxygenSaturation, .bodyMass,
    ]

    /// Quarantines all values of a measurement of which one that carries it failed, or whose blood pressures are incomplete or
    /// contradict one another.
    @usableFromInline func evaluateMeasurements(_ batch: inout [GatedSample], from first: Int, of frame: RawFrame) {
        var start = first
        while start < batch.count {
            var end = start + 1
            while end < batch.count, batch[end].place == batch[start].place,
                batch[end].sample.start == batch[start].sample.start
            {
                end += 1
            }
            if end > start + 1, Self.isFailed(batch[start..<end]) {
                for index in start..<end where batch[index].rule == nil && !batch[index].sample.origin.type.isOfRoom {
                    batch[index].rule = .failedMeasurement
                    if batch[index].place == frame.place { batch[index].frame = FrameText(frame) }
                }
            }
            start = end
        }
    }

    private static func isFailed(_ measurement: ArraySlice<GatedSample>) -> Bool {
        var (low, high): (Double?, Double?) = (nil, nil)
        for gated in measurement {
            let type = gated.sample.origin.type
            guard carriers.contains(type) else { continue }
            if let rule = gated.rule, rule != .clockUnknown, rule != .unattributed, rule != .provisional { return true }
            if type == .bloodPressureSystolic { high = gated.sample.value }
            if type == .bloodPressureDiastolic { low = gated.sample.value }
        }
        guard let low else { return false }
        return high.map { $0 <= low } ?? true
    }
}
