/// The content of an object's body. Each kind of object has one type for it (``SampleKind/bodyType``).
///
/// Lines of a store, checks, and readers with fewer rights treat all kinds alike through this protocol. A new kind declares its references,
/// the content after its JSON, and its own checks here.
public protocol ObjectBody: Hashable, Sendable, Codable {
    /// The role of the objects that it refers to.
    static var referenceRole: ReferenceRole { get }
    /// Whether the content after the JSON is a resource or document as received, rather than points.
    static var hasDocument: Bool { get }
    /// The UUIDs of the objects that it refers to, as received.
    var references: [String] { get set }
    /// The description of the points that follow the JSON. `nil` without points.
    var packedPoints: Points? { get }

    /// Checks what is particular to this kind. The points are checked separately.
    ///
    /// - Parameter document: The content after the JSON, for kinds with ``hasDocument``. It is empty for others.
    func check(as type: SampleType, document: [UInt8]) throws(InvalidObject)
}

/// The role of the objects that an object refers to.
public enum ReferenceRole: Hashable, Sendable {
    /// It has no references.
    case none
    /// They are its parts, such as the samples of a correlation.
    case part
    /// It is a part of them, such as the route of a workout.
    case whole
}

extension ObjectBody {
    public static var referenceRole: ReferenceRole { .none }
    public static var hasDocument: Bool { false }
    public var references: [String] {
        get { [] }
        set { assert(newValue.isEmpty) }
    }
    public var packedPoints: Points? { nil }
    public func check(as type: SampleType, document: [UInt8]) throws(InvalidObject) {}
}

extension SampleKind {
    /// The type of the bodies of this kind, or `nil` for quantities and categories, which have none.
    public var bodyType: (any ObjectBody.Type)? {
        switch self {
        case .quantity, .category: nil
        case .correlation: Correlation.self
        case .workout: Workout.self
        case .activitySummary: ActivitySummary.self
        case .workoutRoute: WorkoutRoute.self
        case .heartbeatSeries: HeartbeatSeries.self
        case .electrocardiogram: Electrocardiogram.self
        case .audiogram: Audiogram.self
        case .visionPrescription: VisionPrescription.self
        case .stateOfMind: StateOfMind.self
        case .medicationDoseEvent: MedicationDoseEvent.self
        case .scoredAssessment: ScoredAssessment.self
        case .clinicalRecord: ClinicalRecord.self
        case .document: ClinicalDocument.self
        }
    }
}

extension SampleBody {
    /// The decoded content.
    ///
    /// - Returns: `nil` for quantities and categories.
    /// - Throws: `DecodingError` if the JSON does not match the kind.
    public func object(of kind: SampleKind) throws -> (any ObjectBody)? { try kind.bodyType.map { try decoded(as: $0) } }

    /// The same body with other references.
    ///
    /// - Throws: `EncodingError`.
    public func with(references: [String], in object: any ObjectBody) throws -> SampleBody {
        var object = object
        object.references = references
        return try SampleBody(encoding: object, content: content)
    }
}
