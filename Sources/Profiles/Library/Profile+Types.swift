import HealthModel

extension Profile {
    /// The types of its readings, each once, by id; none where the file itself names them.
    public var types: [SampleType] {
        var found: Set<SampleType> = []
        for table in tables {
            for reading in table.readings {
                if case .fixed(let type) = reading.type { found.insert(type) }
            }
        }
        for channel in binaries { for reading in channel.readings { found.insert(reading.type) } }
        return found.sorted { $0.id < $1.id }
    }

    /// Whether all that it reads is of a room, or of the sensor's battery: it has no person then.
    public var tellsOnlyOfRoom: Bool {
        let types = types.filter { $0 != .batteryLevel }
        return !types.isEmpty && types.allSatisfy(\.isOfRoom)
    }
}
