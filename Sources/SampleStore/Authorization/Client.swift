import HealthModel

/// A program that asks for somebody's health data: what HealthKit calls an app. It may nothing but what a person grants.
public struct Client: Hashable, Sendable {
    /// Its number; no later client gets it.
    public let id: Int64
    /// What people call it.
    public let name: String
    /// What it wants the data for, in the words that the person is shown.
    public let purpose: String
    /// Where its privacy policy stands, a URL.
    public let policy: String?
    /// When it was added.
    public let added: Instant
    /// From when on it is let in no more.
    public let expires: Instant?

    /// The id of the source (``SourceRevision/id``) of what it writes.
    public var source: String { Self.sourcePrefix + "\(id)" }

    static let sourcePrefix = "client."

    /// Whether a source is a client's.
    static func isSource(_ id: String) -> Bool {
        id.hasPrefix(sourcePrefix) && Int64(id.dropFirst(sourcePrefix.count)) != nil
    }
}

/// What is read or written: a type of samples, or a characteristic, each with a right of its own.
public struct ObjectType: Hashable, Sendable, Comparable {
    /// As in a sample's line, `heartRate`, or as a characteristic is called, `biologicalSex`.
    public let id: String
    /// Whether a person is asked about each object by itself, as HealthKit has it for clinical records and documents of health records.
    public let isAskedByObject: Bool
    /// Whether no program may write it, whatever a person says. Of HealthKit's clinical records one "can't request authorization to share"
    /// (<https://developer.apple.com/documentation/healthkit/hkclinicaltypeidentifier>), and what it asks to share is samples
    /// (<https://developer.apple.com/documentation/healthkit/hkhealthstore/requestauthorization(toshare:read:completion:)>), which neither a day's rings nor
    /// characteristics are.
    public let isReadOnly: Bool

    /// Of samples.
    public init(_ type: SampleType) {
        id = type.id
        isAskedByObject = Self.kindsAskedByObject.contains(type.kind)
        isReadOnly = type.kind == .clinicalRecord || type.kind == .activitySummary
    }

    /// Of a characteristic.
    public init(_ type: CharacteristicType) {
        id = type.rawValue
        isAskedByObject = false
        isReadOnly = true
    }

    /// The type of this id, or of HealthKit's identifier; `nil` where there is none.
    public init?(_ id: String) {
        if let type = SampleType(id) {
            self.init(type)
        } else if let type = CharacteristicType.allCases.first(where: { $0.rawValue == id || $0.healthKitIdentifier == id }) {
            self.init(type)
        } else {
            return nil
        }
    }

    static let kindsAskedByObject: Set<SampleKind> = [.clinicalRecord, .document]

    public static func < (one: ObjectType, other: ObjectType) -> Bool { one.id < other.id }
}
