import HealthModel
import Pipeline

/// How a table's rows become readings: a channel of kind `csv`, `json` or `sqlite`, as its profile says it. See `docs/profiles.md`.
struct TableChannel: Sendable {
    enum Kind: String, Sendable, CaseIterable { case csv, json, sqlite }

    var kind: Kind
    var delimiters: [UInt8] = TableChannel.allDelimiters
    var decimal = DecimalRule.point
    /// Texts that stand for no value; the empty text always does.
    var empties: [[UInt8]] = []
    /// The header stands on one of the first so many lines.
    var headerWithin = 1
    /// Of CSV: rows that say the date of those behind them.
    var heading: HeadingRule?
    /// Of JSON: the member of one object that holds the rows; nil where the file is a list of rows.
    var rows: String?
    /// Of a database: the table that is read.
    var foreign: ForeignTable?
    /// A file is one person's: the first row's cell counts, and rows with another are refused.
    var person: Int?
    /// Rows that say the same at one time are told apart by this cell.
    var apart: Int?
    /// Of JSON: columns of which the first object has one at least.
    var anyOf: [Int] = []
    /// What the file has and nobody misses: of CSV names in the header, of JSON paths.
    var ignored: [HeaderPattern] = []
    /// The maker's own id of what a row tells.
    var record: RecordRule?
    var summary: SummaryTable?
    var columns: [ColumnRule] = []
    /// Alternatives: the first whose columns the file has.
    var times: [TimeRule] = []
    var end: EndRule?
    var skips: [SkipRule] = []
    var readings: [ReadingRule] = []
    var device: DeviceRule?
    var source: SourceRule
    var subject: Int?
    var metadata: [MetadataRule] = []
    /// Spellings of units in headers and cells.
    var units: [String: Unit] = [:]
    /// Said about every file.
    var notes: [String] = []

    static let allDelimiters: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|")]

    func column(named name: String) -> Int? { columns.firstIndex { $0.name == name } }

    /// The paths into each object, for a channel of kind `json`.
    var paths: [String] { columns.map { $0.path ?? "" } }
}

/// One column of the file, under a name that the rest of the profile uses.
struct ColumnRule: Hashable, Sendable {
    var name: String
    var patterns: [HeaderPattern] = []
    /// From 0; where a header is translated.
    var position: Int?
    /// `value.bpm`, in JSON; in a database the column's own name.
    var path: String?
    var isRequired = true
    /// Texts that stand for no value in this column.
    var empties: [[UInt8]] = []
    /// From 1: which of several columns of one name.
    var nth: Int?
    /// Between groups of three digits.
    var group: UInt8?
}

/// A table of one row in front of the main one, which says when the recording began.
struct SummaryTable: Sendable {
    var columns: [ColumnRule]
    var time: TimeRule
    var kind: SkipKind
    /// What the row itself makes, such as a workout.
    var end: EndRule?
    var readings: [ReadingRule] = []
}

/// A row that holds nothing but a date, in the column of the time.
struct HeadingRule: Sendable {
    var column: Int
    var patterns: [TimePattern]
}

struct TimeRule: Sendable {
    enum Zone: String, Sendable, CaseIterable {
        /// The offset in the text where there is one; else the file's zone.
        case written
        case utc = "UTC"
        case local
    }

    /// Joined by one blank.
    var columns: [Int]
    var patterns: [TimePattern]
    var zone = Zone.written
    /// The start comes from the summary; `columns` are empty.
    var fromSummary = false
    /// Hours, minutes and seconds since the start.
    var elapsed: Int?
    /// Seconds of a counter that no change of clocks touches.
    var ticks: Int?
    /// The columns are a date, and what the row says is of all that day.
    var isDay = false
    /// How far the place's clocks are ahead of UTC, in a column of its own.
    var offset: OffsetRule?

    /// Several orders of the date's numbers are allowed.
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

/// The maker's own id and version of what a row tells.
struct RecordRule: Sendable {
    /// The first that has a value is the id; where none has, the row is known by what it tells.
    var ids: [Int]
    /// The first that has a whole number is the version; 0 where none has.
    var versions: [Int]
    /// Rows that follow one another with one id are the parts of one record.
    var hasParts: Bool

    var columns: [Int] { ids + versions }
}

enum EndRule: Sendable {
    enum DurationUnit: String, Sendable, CaseIterable {
        case clock = "H:mm:ss"
        case milliseconds = "ms"
        case seconds = "s"
        case minutes = "min"
        case hours = "h"

        /// Of one; nil where it is written as a clock does.
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

    /// Whether the file tells how long it was, and not until when.
    var isDuration: Bool { if case .duration = self { true } else { false } }
}

struct SkipRule: Sendable {
    var column: Int
    var values: [[UInt8]]
    /// The rule holds where the cell is none of the values.
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
        /// Behind the number, in its cell.
        case behind
        /// Not in the file: stated here, said aloud, and changed by an option.
        case assumed(Unit, instead: String?)
    }

    var column: Int
    var type: TypeRule
    var unit: UnitRule
    var conditions: [Condition] = []
    var texts: [LimitText] = []
    var metadata: [MetadataRule] = []
    /// Of categories and workouts: what the maker calls each case, and HealthKit's raw number of it.
    var cases: [String: Int]?
    /// The case that every row is, whatever stands in the cell.
    var always: Int?
    /// Of workouts: the figures that the row tells.
    var figures: [FigureRule] = []
    /// What it tells is of the row's start, whatever its end.
    var isMoment = false
}

/// A figure of a workout that stands in a column.
struct FigureRule: Sendable {
    enum Part: String, Sendable, CaseIterable { case sum, average, minimum, maximum }

    var part: Part
    /// The cell, its type and its unit.
    var reading: ReadingRule
}

/// A cell that must have one of some values.
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
    /// The limit in each unit the device can be set to; none where the text is a number, which is kept.
    var limits: [(unit: Unit, numeral: Numeral)]
}

struct MetadataRule: Sendable {
    enum Value: Sendable {
        case constant(MetadataValue)
        case text(Int)
        case number(Int)
        /// The cell's text is looked up; one that is not listed says nothing.
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

/// A text that is the profile's or a cell's.
enum TextRule: Sendable {
    case constant(String)
    /// The first cell that is not empty; looked up where there is a list, and left out where it is not in it.
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

/// Which sign stands between a number's whole and fraction.
enum DecimalRule: String, Sendable, CaseIterable {
    case point = "."
    case comma = ","
    /// Told by the values; see ``DecimalSigns``.
    case auto

    /// What a person says counts, but for what the values themselves tell.
    func chosen(_ sign: DecimalSign?) -> DecimalRule {
        switch (self, sign) {
        case (.auto, _), (_, nil): self
        case (_, .point?): .point
        case (_, .comma?): .comma
        }
    }
}

extension TableChannel {
    /// Whether a person's word on the decimal sign says anything of this reading's numbers.
    func mayChooseDecimal(of rule: ReadingRule) -> Bool { kind == .csv && columns[rule.column].group == nil }
}
