/// Glasses or contact lenses (`HKVisionPrescription`); which of them is the sample's number, the day of issue its start.
public struct VisionPrescription: Hashable, Sendable, Codable {
    /// When it is no longer good, in microseconds after the sample's start.
    public var expiration: Int64?
    /// Of contact lenses.
    public var brand: String?
    /// What the left eye needs: amounts by the names of ``names``.
    public var leftEye: [String: Amount]?
    /// What the right eye needs.
    public var rightEye: [String: Amount]?
    /// What was attached to it, by its identifiers; the attachments are not exported.
    public var attachments: [String]

    /// What a lens tells (`HKLensSpecification`, `HKGlassesLensSpecification`, `HKContactsLensSpecification`), as the attributes of Apple's export.
    public static let names = [
        "sphere", "cylinder", "axis", "add", "vertex", "prismAmount", "prismAngle", "farPD", "nearPD", "baseCurve", "diameter",
    ]

    /// A prescription of its parts.
    public init(
        expiration: Int64? = nil, brand: String? = nil, leftEye: [String: Amount]? = nil, rightEye: [String: Amount]? = nil,
        attachments: [String] = []
    ) {
        (self.expiration, self.brand, self.leftEye, self.rightEye) = (expiration, brand, leftEye, rightEye)
        self.attachments = attachments
    }
}
