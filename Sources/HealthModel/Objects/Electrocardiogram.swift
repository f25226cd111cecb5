/// An electrocardiogram (`HKElectrocardiogram`): its voltages are the points of its body, a column a lead. What it was classified as is the
/// sample's number.
public struct Electrocardiogram: Hashable, Sendable, Codable {
    /// The voltages, evenly spaced: one every ``samplingFrequency``-th of a second.
    public var points: Points
    /// In Hz.
    public var samplingFrequency: Amount?
    /// As the source reckons it.
    public var averageHeartRate: Amount?
    /// `notSet`, `none`, `present` (``ObjectValues/symptomsStatus``).
    public var symptomsStatus: String?
    /// What the person felt, as told.
    public var symptoms: [String]
    /// The lead, as told: `Lead I`.
    public var lead: String?

    /// The column of one lead's voltages in microvolts.
    public static let voltage = Points.Column("voltage", unit: "uV")

    /// An electrocardiogram of its parts.
    public init(
        points: Points, samplingFrequency: Amount? = nil, averageHeartRate: Amount? = nil, symptomsStatus: String? = nil,
        symptoms: [String] = [], lead: String? = nil
    ) {
        (self.points, self.samplingFrequency, self.averageHeartRate) = (points, samplingFrequency, averageHeartRate)
        (self.symptomsStatus, self.symptoms, self.lead) = (symptomsStatus, symptoms, lead)
    }
}
