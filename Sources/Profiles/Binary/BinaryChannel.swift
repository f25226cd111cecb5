import HealthModel
import Pipeline
import Wire

/// How a channel's octets become readings, as its profile says it: `gatt:2A37`, `advert:FCD2`. See `docs/profiles.md`.
struct BinaryChannel: Sendable {
    /// Channels whose layout is octets; others are read by other parts.
    static let prefixes = ["gatt:", "gatt-write:", "advert:", "serial:"]

    var name: String
    /// The first of several channels that have this layout; nil for one alone.
    var kin: String?
    var plan = LayoutPlan()
    /// Frames that are no measurements; the first that holds counts.
    var skips: [Skip] = []
    /// What a frame without readings is counted as.
    var information = SkipKind("no-value")
    var time = TimeRule.receipt
    var readings: [ReadingRule] = []
    var source: SourceRevision
    /// Its frames say something of other frames' readings.
    var description: Description?
    /// Its frames say when the session began from which others count.
    var session: Session?
    /// The number that a device keeps while it repeats a frame.
    var packet: Int32?
    /// Holds for frames that are a part of a measurement which takes two.
    var part: BitCondition?

    /// The channel whose measurement a frame belongs to that has no time of its own.
    var follows: String?

    struct Description: Sendable {
        var span: FrameDescription.Span
        var types: [SampleType]
        var metadata: MetadataRules
    }

    /// Fields: a date-time, and two whole numbers of quarters of an hour.
    struct Session: Sendable {
        var start: Int32
        var zone: Int32
        var summerTime: Int32
    }

    /// The field that lists measurements, where frames themselves say what they measure.
    var measurements: Int32?
    /// Equal readings that come within so many seconds of those that were taken are the same measurement, sent again.
    var repeatsWithin = 0
    /// How octets are sent, on a serial line.
    var port: SerialSettings?

    struct Skip: Sendable {
        var condition: BitCondition
        var kind: SkipKind
    }

    enum TimeRule: Sendable {
        case receipt
        /// A date-time field, where the condition holds; receipt otherwise.
        case device(field: Int32, condition: BitCondition, unknown: Unknown)
        /// Minutes since a session's start that another characteristic tells.
        case session(minutes: Int32)
    }

    /// What to do where the device does not know the whole date.
    enum Unknown: String, Sendable, CaseIterable {
        /// The time of receipt stands in; what the device said is kept in the metadata.
        case receipt
        /// A stored reading that may be years old is refused.
        case refuse
    }

    struct ReadingRule: Sendable {
        var field: Int32
        /// Further fields of the same name.
        var namesakes: [Int32] = []
        /// It lies in records, with a word of conditions for each.
        var isInRecords = false
        var type: SampleType
        /// In place of the field's own.
        var unit: Unit?
        var condition = BitCondition.always
        /// 0 stands for no value.
        var zeroIsNone = false
        /// Fields of one name, without a value of which this one is none; empty if it stands alone.
        var companions: [Int32] = []
        var metadata = MetadataRules()
    }

    struct MetadataRules: Sendable {
        enum Value: Sendable {
            case constant(MetadataValue)
            /// True where the condition holds, else nothing.
            case flag(BitCondition)
            /// The value of an enumeration, looked up.
            case mapped(shift: Int, width: Int, values: [Int64: MetadataValue])
            /// The names of a status word's set bits, joined by commas.
            case names(Int32)
            case number(Int32)
        }

        var rules: [(key: String, value: Value)] = []

        /// The bits and the fields that the metadata depends on.
        var dependencies: (mask: UInt64, fields: [Int32]) {
            var mask: UInt64 = 0
            var fields: [Int32] = []
            for (_, value) in rules {
                switch value {
                case .constant: break
                case .flag(let condition): mask |= condition.mask | condition.otherMask
                case .mapped(let shift, let width, _):
                    mask |= (width >= 64 ? UInt64.max : 1 << UInt64(width) - 1) << UInt64(shift)
                case .names(let field), .number(let field): fields.append(field)
                }
            }
            return (mask, fields)
        }
    }
}
