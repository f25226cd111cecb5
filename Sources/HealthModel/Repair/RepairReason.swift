/// Why a sample that meets the conditions of a repair is left alone.
public enum RepairReason: String, Hashable, Sendable, CaseIterable {
    // Already right.
    /// It was already received in the repair's unit.
    case hasTheUnit
    /// Its value is plausible, and would not be after the repair.
    case alreadyPlausible = "plausibleAsItIs"
    /// It had this repair already.
    case repairedBefore
    /// It is already in the repair's zone.
    case sameZone
    /// It is that person's.
    case samePerson = "sameSubject"
    /// It is of that type.
    case sameType
    // Ambiguous cases.
    /// Its value is plausible before and after.
    case bothPlausible
    /// Its value is plausible neither before nor after.
    case neitherPlausible
    /// Its type has no plausible range to judge by.
    case noRange
    // It cannot be done.
    /// Its value would be one that the gate never lets in.
    case impossibleValue
    /// It would be in the future or before 1971.
    case impossibleTime
    /// Its value cannot be in that unit or of that type.
    case noConversion
    /// Its source has no zone, so its local time is unknown.
    case noZone
    /// The zone's clocks skip its local time, or show it twice.
    case noSuchLocalTime
    /// It is a calendar date without a time.
    case noInstant
    /// The repaired sample was deleted by the user.
    case deletedAlready

    /// The three ways in which a sample is left.
    public enum Group: String, Hashable, Sendable, CaseIterable {
        case alreadyRight, ambiguous, impossible
    }

    /// In which of the three ways it is left.
    public var group: Group {
        switch self {
        case .hasTheUnit, .alreadyPlausible, .repairedBefore, .sameZone, .samePerson, .sameType: .alreadyRight
        case .bothPlausible, .neitherPlausible, .noRange: .ambiguous
        default: .impossible
        }
    }

    /// The reason in words, to follow a count.
    public var words: String {
        switch self {
        case .hasTheUnit: "were received in that unit"
        case .alreadyPlausible: "are plausible now but would not be after the repair"
        case .repairedBefore: "were already repaired"
        case .sameZone: "are already in that time zone"
        case .samePerson: "already belong to that person"
        case .sameType: "already have that type"
        case .bothPlausible: "are plausible either way"
        case .neitherPlausible: "would be implausible either way"
        case .noRange: "have a type without a plausible range"
        case .impossibleValue: "would have an impossible value"
        case .impossibleTime: "would be in the future or before 1971"
        case .noConversion: "cannot have that unit or type"
        case .noZone: "have no time zone, so their local time is unknown"
        case .noSuchLocalTime: "have a local time that the time zone skips or repeats"
        case .noInstant: "are calendar dates without a time"
        case .deletedAlready: "already have a correct copy that was deleted"
        }
    }
}
