/// An electrocardiogram (`HKElectrocardiogram`). Its voltages are the points of its body, with one column per lead. The classification is
/// the sample's number.
public struct Electrocardiogram: Hashable, Sendable, Codable {
    /// The voltages, evenly spaced: one every ``samplingFrequency``-th of a second.
    public var points: Points
    /// The sampling frequency in Hz.
    public var samplingFrequency: Amount?
    /// The source's average heart rate.
    public var averageHeartRate: Amount?
    /// `notSet`, `none`, `present` (``ObjectValues/symptomsStatus``).
    public var symptomsStatus: String?
    /// The person's symptoms, as received.
    public var symptoms: [String]
    /// The lead, as received: `Lead I`.
    public var lead: String?

    /// The column of one lead's voltages in microvolts.
    public static let voltage = Points.Column("voltage", unit: "uV")

    /// An electrocardiogram with its parts.
    public init(
        points: Points, samplingFrequency: Amount? = nil, averageHeartRate: Amount? = nil, symptomsStatus: String? = nil,
        symptoms: [String] = [], lead: String? = nil
    ) {
        (self.points, self.samplingFrequency, self.averageHeartRate) = (points, samplingFrequency, averageHeartRate)
        (self.symptomsStatus, self.symptoms, self.lead) = (symptomsStatus, symptoms, lead)
    }
}

extension Electrocardiogram: ObjectBody {
    public var packedPoints: Points? { points }

    public func check(as type: SampleType, document: [UInt8]) throws(InvalidObject) {
        try InvalidObject.checkName(symptomsStatus, in: ObjectValues.symptomsStatus, "body: symptomsStatus")
    }
}
