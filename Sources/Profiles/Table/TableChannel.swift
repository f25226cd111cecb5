import HealthModel
import Pipeline

/// How a table's rows become readings: a channel of kind `csv` or `json`, as its profile says it. See `docs/profiles.md`.
struct TableChannel: Sendable {
    enum Kind: String, Sendable, CaseIterable { case csv, json }

    var kind: Kind
    var delimiters: [UInt8] = TableChannel.allDelimiters
    var decimal = DecimalRule.point
    /// Texts that stand for no value; the empty text always does.
    var empties: [[UInt8]] = []
    /// The header stands on one of the first so many lines.
    var headerWithin = 1
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
    /// `value.bpm`, in JSON.
    var path: String?
    var isRequired = true
    /// Between groups of three digits.
    var group: UInt8?
}

/// A table of one row in front of the main one, which says when the recording began.
struct SummaryTable: Sendable {
    var columns: [ColumnRule]
    var time: TimeRule
    var kind: SkipKind
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

    /// Several orders of the date's numbers are allowed.
    var mayBeContested: Bool { Set(patterns.compactMap(\.order)).count > 1 }
}

enum EndRule: Sendable {
    case duration(Int)
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
    /// Of workouts: the figures that the row tells.
    var figures: [FigureRule] = []
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
    /// The limit in each unit the device can be set to.
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
    case cell(Int)

    var column: Int? { if case .cell(let column) = self { column } else { nil } }
}

struct DeviceRule: Sendable {
    var name: TextRule?
    var manufacturer: TextRule?
    var model: TextRule?
    var serial: TextRule?

    var columns: [Int] { [name, manufacturer, model, serial].compactMap { $0?.column } }
}

struct SourceRule: Sendable {
    var id: String
    var name: TextRule
    var version: TextRule?

    var columns: [Int] { [name.column, version?.column].compactMap { $0 } }
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
