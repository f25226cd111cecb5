import HealthModel

/// A program that requests a person's health data, like an app in HealthKit. It may access only the data that the
/// person grants.
public struct Client: Hashable, Sendable {
    /// The client's number, which is never reused.
    public let id: Int64
    /// The client's name, as shown to people.
    public let name: String
    /// The reason why the client wants the data, in the words that the person is shown.
    public let purpose: String
    /// The URL of the client's privacy policy, if any.
    public let policy: String?
    /// When the client was added.
    public let added: Instant
    /// When the client loses access, or `nil` if it never expires.
    public let expires: Instant?
    /// The id of the app that posts the data of a phone, or `nil` if the client is not a phone.
    public let app: String?

    /// The id of the source (``SourceRevision/id``) of the samples that the client writes.
    public var source: String { ClientSource.id(of: id) }
    /// The name of the client's entries in the ledger.
    package var ledgerName: String { "\(name) (\(source))" }
}

/// A type of object with read and write permissions of its own: a sample type or a characteristic.
public struct ObjectType: Hashable, Sendable, Comparable {
    /// The id of the sample type as in a sample's line, such as `heartRate`, or the name of the characteristic, such as
    /// `biologicalSex`.
    public let id: String
    /// Whether a person grants each object of the type individually, as in HealthKit for clinical records and documents
    /// of health records.
    public let isAskedByObject: Bool
    /// Whether no client may write the type, whatever a person grants. HealthKit "can't request authorization to share"
    /// clinical records (<https://developer.apple.com/documentation/healthkit/hkclinicaltypeidentifier>). It requests
    /// to share only samples
    /// (<https://developer.apple.com/documentation/healthkit/hkhealthstore/requestauthorization(toshare:read:completion:)>),
    /// so a day's rings and characteristics cannot be shared either.
    public let isReadOnly: Bool

    /// Creates the object type of a sample type.
    public init(_ type: SampleType) {
        id = type.id
        isAskedByObject = GrantTable.kindsAskedByObject.contains(type.kind)
        isReadOnly = type.kind == .clinicalRecord || type.kind == .activitySummary
    }

    /// Creates the object type of a characteristic.
    public init(_ type: CharacteristicType) {
        id = type.rawValue
        isAskedByObject = false
        isReadOnly = true
    }

    /// The type with this id or HealthKit identifier, or `nil` if there is no such type.
    public init?(_ id: String) {
        if let type = SampleType(id) {
            self.init(type)
        } else if let type = CharacteristicType.allCases.first(where: { $0.rawValue == id || $0.healthKitIdentifier == id }) {
            self.init(type)
        } else {
            return nil
        }
    }

    /// The type with this id, HealthKit identifier, display name or short name, or `nil` if there is none or several.
    public init?(named name: String) {
        if let type = ObjectType(name) {
            self = type
        } else if let type = SampleType.only(named: name) {
            self.init(type)
        } else {
            return nil
        }
    }

    public static func < (one: ObjectType, other: ObjectType) -> Bool { one.id < other.id }
}
