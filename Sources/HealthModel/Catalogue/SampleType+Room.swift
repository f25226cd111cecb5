extension SampleType {
    /// Whether it is measured of the air around and of nobody's body: room temperature, humidity, pressure, fine dust, CO2.
    public var isOfRoom: Bool { Self.ofRoom.contains(id) }

    private static let ofRoom: Set<String> = [
        "roomTemperature", "relativeHumidity", "barometricPressure", "particulateMatter2_5", "carbonDioxideConcentration",
    ]
}
