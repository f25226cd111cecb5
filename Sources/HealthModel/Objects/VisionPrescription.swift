/// A prescription for glasses or contact lenses (`HKVisionPrescription`). The sample's number distinguishes them, and its start is the day
/// of issue.
public struct VisionPrescription: Hashable, Sendable, Codable {
    /// The time of expiration, in microseconds after the sample's start.
    public var expiration: Int64?
    /// The brand of contact lenses.
    public var brand: String?
    /// The values for the left eye: amounts by the names in ``names``.
    public var leftEye: [String: Amount]?
    /// The values for the right eye.
    public var rightEye: [String: Amount]?
    /// The identifiers of attachments, which are not exported.
    public var attachments: [String]

    /// The values of a lens (`HKLensSpecification`, `HKGlassesLensSpecification`, `HKContactsLensSpecification`), named as in Apple's
    /// export.
    public static let names = [
        "sphere", "cylinder", "axis", "add", "vertex", "prismAmount", "prismAngle", "farPD", "nearPD", "baseCurve", "diameter",
    ]

    /// A prescription with its parts.
    public init(
        expiration: Int64? = nil, brand: String? = nil, leftEye: [String: Amount]? = nil, rightEye: [String: Amount]? = nil,
        attachments: [String] = []
    ) {
        (self.expiration, self.brand, self.leftEye, self.rightEye) = (expiration, brand, leftEye, rightEye)
        self.attachments = attachments
    }
}

extension VisionPrescription: ObjectBody {
    public func check(as type: SampleType, document: [UInt8]) throws(InvalidObject) {
        try InvalidObject.checkTimes([expiration], "expiration")
        for (side, eye) in [("leftEye", leftEye), ("rightEye", rightEye)] {
            guard eye?.keys.allSatisfy(Self.names.contains) ?? true else {
                throw InvalidObject(side, "a lens has no such number")
            }
        }
        guard leftEye != nil || rightEye != nil else { throw InvalidObject("leftEye", "both eyes are missing") }
    }
}
