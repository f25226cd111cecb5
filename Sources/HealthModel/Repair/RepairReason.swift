/// Why a sample that meets the conditions of a repair is left alone.
public enum RepairReason: String, Hashable, Sendable, CaseIterable {
    // Already right.
    case hasTheUnit
    case plausibleAsItIs
    case repairedBefore
    case sameZone
    case sameSubject
    case sameType
    // Nobody can tell.
    case bothPlausible
    case neitherPlausible
    case noRange
    // It cannot be done.
    case impossibleValue
    case impossibleTime
    case noConversion
    case noZone
    case noSuchLocalTime
    case deletedAlready

    /// The three ways in which a sample is left.
    public enum Group: String, Hashable, Sendable, CaseIterable {
        case alreadyRight, ambiguous, impossible
    }

    public var group: Group {
        switch self {
        case .hasTheUnit, .plausibleAsItIs, .repairedBefore, .sameZone, .sameSubject, .sameType: .alreadyRight
        case .bothPlausible, .neitherPlausible, .noRange: .ambiguous
        default: .impossible
        }
    }

    /// In words, behind a count.
    public var words: String {
        switch self {
        case .hasTheUnit: "were received in that unit"
        case .plausibleAsItIs: "are plausible as they are, and would not be after the repair"
        case .repairedBefore: "had this repair already"
        case .sameZone: "are in that zone"
        case .sameSubject: "are that person's"
        case .sameType: "are of that type"
        case .bothPlausible: "could be right either way"
        case .neitherPlausible: "are plausible neither way"
        case .noRange: "are of a type that has no plausible range to judge by"
        case .impossibleValue: "would have an impossible value"
        case .impossibleTime: "would lie in the future or before 1971"
        case .noConversion: "cannot have that unit or type"
        case .noZone: "have no zone, so their local time is not known"
        case .noSuchLocalTime: "have a local time that the zone skips or has twice"
        case .deletedAlready: "are there, read rightly, as deleted samples"
        }
    }
}
