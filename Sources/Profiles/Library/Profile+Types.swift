import HealthModel

extension Profile {
    /// The types of its readings, each once, sorted by id. Types that the file itself names are not included.
    package var types: [SampleType] {
        var found: Set<SampleType> = []
        for table in tables {
            for reading in table.readings {
                if case .fixed(let type) = reading.type { found.insert(type) }
            }
        }
        for channel in binaries { for reading in channel.readings { found.insert(reading.type) } }
        return found.sorted { $0.id < $1.id }
    }

    /// Whether all its readings describe a room or the sensor's battery, so that they belong to no person.
    package var measuresOnlyRoom: Bool {
        let types = types.filter { $0 != .batteryLevel }
        return !types.isEmpty && types.allSatisfy(\.isOfRoom)
    }
}
