extension SampleType {
    /// Whether it is a property of the surrounding air and not of a body: room temperature, humidity, pressure, fine dust, CO2.
    public var isOfRoom: Bool { Self.ofRoom.contains(id) }

    private static let ofRoom: Set<String> = [
        "roomTemperature", "relativeHumidity", "barometricPressure", "particulateMatter2_5", "carbonDioxideConcentration",
    ]
}
