import HealthModel
import Pipeline
import Wire

/// The rules that turn a channel's bytes into readings, compiled from its profile. Channels have names such as `gatt:2A37` or
/// `advert:FCD2`. See `docs/reference/profiles-binary.md`.
struct BinaryChannel: Sendable {
    /// Prefixes of the channels whose layout is binary. Other parts read the other channels.
    static let prefixes = ["gatt:", "gatt-write:", "advert:", "serial:"]

    var name: String
    /// The first of several channels that share this layout, or nil if the layout belongs to one channel.
    var kin: String?
    var plan = LayoutPlan()
    /// Conditions for frames that are not measurements. The first one that holds counts.
    var skips: [Skip] = []
    /// The kind under which a frame without readings is counted.
    var information = SkipKind("no-value")
    var time = TimeRule.receipt
    var readings: [ReadingRule] = []
    var source: SourceRevision
    /// Set if the channel's frames describe the readings of other frames.
    var description: Description?
    /// Set if the channel's frames contain the start of the session from which other frames count.
    var session: Session?
    /// The field with the packet number, which stays the same while a device repeats a frame.
    var packet: Int32?
    /// The condition for frames that are one part of a two-part measurement.
    var part: BitCondition?

    /// The channel with the measurement that a frame without a time of its own belongs to.
    var follows: String?

    struct Description: Sendable {
        var span: FrameDescription.Span
        var types: [SampleType]
        var metadata: MetadataRules
    }

    /// Indices of fields: a date-time, and two whole numbers of quarters of an hour.
    struct Session: Sendable {
        var start: Int32
        var zone: Int32
        var summerTime: Int32
    }

    /// The field that lists measurements, if the frames themselves name what they measure.
    var measurements: Int32?
    /// The window for repeats, in seconds. An equal reading within this time of an accepted one is the same measurement, sent again.
    var repeatsWithin = 0
    var port: SerialSettings?

    struct Skip: Sendable {
        var condition: BitCondition
        var kind: SkipKind
    }

    enum TimeRule: Sendable {
        case receipt
        /// The date-time field if the condition holds, otherwise the time of receipt.
        case device(field: Int32, condition: BitCondition, unknown: Unknown)
        /// Minutes since the start of a session, which another characteristic contains.
        case session(minutes: Int32)
    }

    /// The handling of a date that the device does not know completely.
    enum Unknown: String, Sendable, CaseIterable {
        /// Use the time of receipt, and keep the device's time in the metadata.
        case receipt
        /// Refuse the reading, because a stored reading may be years old.
        case refuse
    }

    struct ReadingRule: Sendable {
        var field: Int32
        /// Other fields with the same name.
        var namesakes: [Int32] = []
        /// Whether the field is in records, each of which has its own word of conditions.
        var isInRecords = false
        var type: SampleType
        /// The unit that replaces the field's own.
        var unit: Unit?
        var condition = BitCondition.always
        /// Whether 0 means that there is no value.
        var zeroIsNone = false
        /// Fields with the same name, at least one of which must have a value other than 0. Empty if the reading does not depend on others.
        var companions: [Int32] = []
        var metadata = MetadataRules()
    }

    struct MetadataRules: Sendable {
        enum Value: Sendable {
            case constant(MetadataValue)
            /// True if the condition holds, otherwise absent.
            case flag(BitCondition)
            /// The value of an enumeration, looked up in a table.
            case mapped(shift: Int, width: Int, values: [Int64: MetadataValue])
            /// The names of the bits that are set in a status word, joined by commas.
            case names(Int32)
            case number(Int32)
        }

        var rules: [(key: String, value: Value)] = []

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
