import HealthModel
import Pipeline

/// The rules that turn a table's rows into readings: a channel of kind `csv`, `json` or `sqlite` of a profile.
/// See `docs/reference/profiles-tables.md`.
struct TableChannel: Sendable {
    enum Kind: String, Sendable, CaseIterable { case csv, json, sqlite }

    var kind: Kind
    var delimiters: [UInt8] = TableChannel.allDelimiters
    var decimal = DecimalRule.point
    /// Texts that mean that there is no value. The empty text always does.
    var empties: [[UInt8]] = []
    /// The number of lines at the start of the file that may contain the header.
    var headerWithin = 1
    /// CSV: the rule for rows that contain the date of the rows after them.
    var heading: HeadingRule?
    /// JSON: the member of one object that contains the rows, or nil if the file is a list of rows.
    var rows: String?
    /// Database: the table that is read.
    var foreign: ForeignTable?
    /// The column that identifies the file's only person. Rows with another value than the first row are refused.
    var person: Int?
    /// The column that distinguishes rows with equal content and time.
    var apart: Int?
    /// JSON: columns of which the first object must have at least one.
    var anyOf: [Int] = []
    /// Content that is ignored on purpose: names in the header (CSV) or paths (JSON).
    var ignored: [HeaderPattern] = []
    /// The maker's own id of a row's record.
    var record: RecordRule?
    var summary: SummaryTable?
    var columns: [ColumnRule] = []
    /// Alternatives. The first one whose columns the file has is used.
    var times: [TimeRule] = []
    var end: EndRule?
    var skips: [SkipRule] = []
    var readings: [ReadingRule] = []
    var device: DeviceRule?
    var source: SourceRule
    var personID: Int?
    var metadata: [MetadataRule] = []
    /// Spellings of units in headers and cells.
    var units: [String: Unit] = [:]
    /// Notes that are shown for every file.
    var notes: [String] = []

    static let allDelimiters: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|")]

    /// The paths into each object, for a channel of kind `json`.
    var paths: [String] { columns.map { $0.path ?? "" } }
}

/// One column of the file, under a name that the rest of the profile uses.
struct ColumnRule: Hashable, Sendable {
    var name: String
    var patterns: [HeaderPattern] = []
    /// The position from 0, for files with a translated header.
    var position: Int?
    /// JSON: the path, such as `value.bpm`. Database: the column's name.
    var path: String?
    var isRequired = true
    /// Texts in this column that mean that there is no value.
    var empties: [[UInt8]] = []
    /// The number, from 1, among several columns with the same name.
    var nth: Int?
    /// The separator between groups of three digits.
    var group: UInt8?
}

/// A table of one row before the main one, with the start of the recording.
struct SummaryTable: Sendable {
    var columns: [ColumnRule]
    var time: TimeRule
    var kind: SkipKind
    /// The row's own end, for its readings (such as a workout).
    var end: EndRule?
    var readings: [ReadingRule] = []
}

/// A row that contains only a date, in the column of the time.
struct HeadingRule: Sendable {
    var column: Int
    var patterns: [TimePattern]
}

struct TimeRule: Sendable {
    enum Zone: String, Sendable, CaseIterable {
        /// The offset in the text if it has one, otherwise the file's zone.
        case written
        case utc = "UTC"
        case local
    }

    /// The columns of the time. Their texts are joined by one blank.
    var columns: [Int]
    var patterns: [TimePattern]
    var zone = Zone.written
    /// Whether the start comes from the summary. Then `columns` is empty.
    var fromSummary = false
    /// The column with hours, minutes and seconds since the start.
    var elapsed: Int?
    /// The column with seconds of a monotonic counter, which does not change when a clock is set.
    var ticks: Int?
    /// Whether the columns contain a date, and the row describes the whole day.
    var isDay = false
    /// The column with the local offset from UTC.
    var offset: OffsetRule?

    /// Whether the patterns allow several orders of day, month and year.
    var mayBeContested: Bool { Set(patterns.compactMap(\.order)).count > 1 }
}

/// A column with an offset east of UTC.
struct OffsetRule: Sendable {
    enum Unit: String, Sendable, CaseIterable {
        case seconds = "s"
        case minutes = "min"

        var seconds: Int64 { self == .seconds ? 1 : 60 }
    }

    var column: Int
    var unit: Unit
}

/// What identifies the record that a row is a version of, and which version it is.
struct RecordRule: Sendable {
    /// The id is the first of these columns with a value. If there is none, the row is identified by its content.
    var ids: [Int] = []
    /// Whether the row is a statistic, which its period identifies instead of an id.
    var isPeriod = false
    /// The version is the first of these columns with a positive whole number.
    var versions: [Int] = []
    /// Columns whose numbers only grow as the period goes on. Their sum is the version.
    var growing: [Int] = []
    /// Whether the version that ends later is the later one.
    var isLonger = false
    /// Whether consecutive rows with the same id and version are parts of one record.
    var hasParts = false
    /// Whether the later import wins if two versions with the same number have different values.
    var isOpen = false

    /// Records of one file with the same values in these columns are one record, the first of them. Empty if ids always differ.
    var same: [Int] = []

    var columns: [Int] { ids + versions + same }
}

enum EndRule: Sendable {
    enum DurationUnit: String, Sendable, CaseIterable {
        case clock = "H:mm:ss"
        case milliseconds = "ms"
        case seconds = "s"
        case minutes = "min"
        case hours = "h"

        /// The number of microseconds in one unit, or nil for clock notation.
        var microseconds: Double? {
            switch self {
            case .clock: nil
            case .milliseconds: 1e3
            case .seconds: 1e6
            case .minutes: 60e6
            case .hours: 3600e6
            }
        }
    }

    case duration(Int, DurationUnit)
    case time(columns: [Int], patterns: [TimePattern])
    /// Every row lasts this many microseconds.
    case fixed(Int64)

    /// Whether the file contains a duration rather than an end time.
    var isDuration: Bool { if case .duration = self { true } else { false } }
}

struct SkipRule: Sendable {
    var column: Int
    var values: [[UInt8]]
    /// Whether the rule applies if the cell has none of the values.
    var isNegated: Bool
    var kind: SkipKind
}

struct ReadingRule: Sendable {
    enum TypeRule: Sendable {
        case fixed(SampleType)
        case cell(Int)
    }

    enum UnitRule: Sendable {
        case fixed(Unit)
        case header(Int)
        case cell(Int)
        /// The unit follows the number in its cell.
        case trailing
        /// The file does not contain the unit. The profile assumes it, the import reports that, and an option can change it.
        case assumed(Unit, instead: String?)
    }

    var column: Int
    var type: TypeRule
    var unit: UnitRule
    var conditions: [Condition] = []
    var texts: [LimitText] = []
    var metadata: [MetadataRule] = []
    /// For categories and workouts: HealthKit's raw number for each of the maker's words.
    var cases: [String: Int]?
    /// The case of every row, regardless of the cell.
    var always: Int?
    /// For workouts: the figures in the row.
    var figures: [FigureRule] = []
    /// Whether the reading belongs to the row's start only, regardless of its end.
    var isMoment = false
}

struct FigureRule: Sendable {
    enum Part: String, Sendable, CaseIterable { case sum, average, minimum, maximum }

    var part: Part
    /// The cell, its type and its unit.
    var reading: ReadingRule
}

/// A cell that must have one of several values.
struct Condition: Sendable {
    var column: Int
    var values: [[UInt8]]
}

/// A text that means "beyond the device's limit".
struct LimitText: Sendable {
    enum Side: String, Sendable, CaseIterable {
        case lower, upper
        var metadataKey: String { self == .lower ? "quantityClampedToLowerBound" : "quantityClampedToUpperBound" }
    }

    var text: [UInt8]
    var side: Side
    /// The limit in each unit that the device can be set to. Empty if the text is a number, which is kept.
    var limits: [(unit: Unit, numeral: Numeral)]
}

struct MetadataRule: Sendable {
    enum Value: Sendable {
        case constant(MetadataValue)
        case text(Int)
        case number(Int)
        /// A value looked up by the cell's text. A text that is not in the list adds no metadata.
        case mapped(Int, [String: MetadataValue])
    }

    var key: String
    var value: Value

    var column: Int? {
        switch value {
        case .constant: nil
        case .text(let column), .number(let column), .mapped(let column, _): column
        }
    }
}

/// A text from the profile or from a cell.
enum TextRule: Sendable {
    case constant(String)
    /// The first cell that is not empty. If there is a list, the text is looked up in it, and omitted if it is missing there.
    case cells([Int], map: [String: String]?)

    var columns: [Int] { if case .cells(let columns, _) = self { columns } else { [] } }
}

struct DeviceRule: Sendable {
    var name: TextRule?
    var manufacturer: TextRule?
    var model: TextRule?
    var serial: TextRule?

    var columns: [Int] { [name, manufacturer, model, serial].flatMap { $0?.columns ?? [] } }
}

struct SourceRule: Sendable {
    var id: String
    var name: TextRule
    var version: TextRule?

    var columns: [Int] { name.columns + (version?.columns ?? []) }
}

/// The character that separates a number's integer part from its fraction.
enum DecimalRule: String, Sendable, CaseIterable {
    case point = "."
    case comma = ","
    /// Decided by the values. See ``DecimalSigns``.
    case auto

    /// Returns the rule with the user's choice, which does not override `auto`.
    func chosen(_ sign: DecimalSign?) -> DecimalRule {
        switch (self, sign) {
        case (.auto, _), (_, nil): self
        case (_, .point?): .point
        case (_, .comma?): .comma
        }
    }
}

extension TableChannel {
    /// Whether the user's choice of a decimal sign affects this reading's numbers.
    func mayChooseDecimal(of rule: ReadingRule) -> Bool { kind == .csv && columns[rule.column].group == nil }
}
