import HealthModel
import Pipeline

/// Reads the rows of one file by its profile.
///
///     let match = try library.match(firstLines: head.text)
///     let interpreter = try ProfileInterpreter(match, registry: registry, options: options)
///     try interpreter.survey(source)          // decides the order of dates for the whole file, if necessary
///     try source.forEachFrame { frame in … try interpreter.interpret(frame, into: &readings) … }
///
/// Create one interpreter for each file.
package final class ProfileInterpreter: FrameInterpreter {
    package let profile: Profile
    /// Assumptions about the file, to be shown to the user on stderr and kept in the ledger. Complete after the header was read.
    package private(set) var notes: [String]

    private enum State {
        case summaryHeader
        case summaryRow(HeaderBinding)
        /// Waiting for the header, which must be on one of the next `left` lines.
        case header(left: Int)
        case rows
        case lost(String)
    }

    private let channel: TableChannel
    private let options: InterpreterOptions
    private let registry: OriginRegistry
    private var state: State
    @exclusivity(unchecked) private var table: BoundTable?
    private var began: Timestamp?
    private var orders = DateOrders()
    private var signs = DecimalSigns()

    /// - Throws: ``ProfileErrors`` if an option names an unknown column, or a column whose unit the file contains.
    package init(_ match: ProfileMatch, registry: OriginRegistry, options: InterpreterOptions = InterpreterOptions())
        throws(ProfileErrors)
    {
        profile = match.profile
        channel = match.channel
        notes = match.channel.notes
        self.options = options
        self.registry = registry
        state = Self.start(match.channel)
        if let decimal = options.decimal { signs = DecimalSigns(decided: decimal) }
        for (name, unit) in options.units { try check(override: name, unit) }
        try options.refuse(
            "--date-order", if: options.dateOrder != nil && !channel.times.contains(where: \.mayBeContested),
            "\(profile.id) writes dates in one order only")
        try options.refuse(
            "--decimal",
            if: options.decimal != nil && !channel.readings.contains { channel.mayChooseDecimal(of: $0) },
            "\(profile.id) writes numbers in one way only")
        if channel.kind == .json { bindPaths() }
    }

    /// The values that the rows so far contain in columns that no rule reads.
    package var unread: Unread { table?.unread ?? Unread() }

    /// Whether a truncated end of the row cannot affect the readings.
    package func isWhole(_ frame: RawFrame) -> Bool {
        guard case .row(let row) = frame.payload, let table else { return false }
        return withCells(row) { table.isWhole($0) }
    }

    private static func start(_ channel: TableChannel) -> State {
        channel.summary == nil ? .header(left: channel.headerWithin) : .summaryHeader
    }

    private func check(override name: String, _ unit: Unit) throws(ProfileErrors) {
        var problem = "--unit \(name): the profile \(profile.id) has no such column"
        for rule in channel.readings {
            let column = channel.columns[rule.column]
            guard ([column.name] + column.patterns.map(\.text)).contains(where: { $0.lowercased() == name.lowercased() }) else {
                continue
            }
            guard case .assumed = rule.unit else {
                problem = "--unit \(name): the file contains the unit of this column"
                continue
            }
            guard case .fixed(let type) = rule.type else { return }
            do throws(UnitError) {
                _ = try type.conversion(from: unit)
                return
            } catch {
                problem = "--unit \(name): \(error)"
            }
        }
        throw ProfileErrors([ProfileProblem("", problem)])
    }

    /// Turns a row into readings.
    ///
    /// - Throws: ``Refusal`` if the row cannot be read.
    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        switch frame.payload {
        case .row(let row):
            guard let table else { return try head(row, at: frame.place, into: &readings) }
            do throws(BoundTable.Failure) {
                return try withCells(row) { (cells) throws(BoundTable.Failure) in
                    try table.interpret(cells, at: frame.place, into: &readings)
                }
            } catch {
                throw Refusal(error.reason, at: frame.place)
            }
        case .malformed(let reason): throw Refusal(reason, at: frame.place)
        case .bytes: throw Refusal("bytes, not a row of text", at: frame.place)
        }
    }

    /// Handles a row before the table, or the table's header.
    private func head(_ row: TextRow, at place: Place, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        switch state {
        case .summaryHeader:
            guard let summary = channel.summary, let binding = HeaderBinding(summary.columns, header: texts(row), spellings: [])
            else {
                state = .lost("the file does not begin with the summary's header")
                return try head(row, at: place, into: &readings)
            }
            state = .summaryRow(binding)
            return .notData
        case .summaryRow(let binding):
            state = .header(left: channel.headerWithin)
            guard let summary = channel.summary else { return .notData }
            guard row.count >= binding.width else { throw lose("the summary has fewer columns than its header", place) }
            do throws(TableTimes.Failure) {
                let times = TableTimes(rule: summary.time, end: nil, binding: binding, began: nil)
                switch try withCells(row, { (cells) throws(TableTimes.Failure) in try times.time(cells) }) {
                case .wall(let start, _, _): began = Timestamp(wall: start, offset: nil)
                case .instants(let start, _, let offset):
                    began = Timestamp(wall: start.wallTime(at: offset ?? .utc), offset: offset ?? .utc)
                case .added, .complete, .receipt: break
                }
            } catch {
                throw lose("the summary does not contain the start of the recording: \(error.reason)", place)
            }
            return try read(summary, binding, row, at: place, into: &readings)
        case .header(let left):
            if let binding = HeaderBinding(channel.columns, header: texts(row), spellings: Array(channel.units.keys)),
                let table = BoundTable(channel, binding: binding, began: began, options: options, registry: registry)
            {
                adopt(table, binding)
                return .notData
            }
            state =
                left > 1
                ? .header(left: left - 1)
                : .lost("the header that the profile \(profile.id) describes was not found before it")
            return .notData
        case .lost(let reason): throw Refusal(reason, at: place)
        case .rows: return .notData
        }
    }

    /// Makes the readings of the summary's row.
    private func read(
        _ summary: SummaryTable, _ binding: HeaderBinding, _ row: TextRow, at place: Place, into readings: inout [Reading]
    ) throws(Refusal) -> FrameOutcome {
        var own = TableChannel(kind: .csv, source: channel.source)
        (own.columns, own.times, own.end, own.readings) = (summary.columns, [summary.time], summary.end, summary.readings)
        own.empties = channel.empties
        guard !own.readings.isEmpty,
            let table = BoundTable(own, binding: binding, began: nil, options: options, registry: registry)
        else { return .skipped(summary.kind) }
        do throws(BoundTable.Failure) {
            let outcome = try withCells(row) { (cells) throws(BoundTable.Failure) in
                try table.interpret(cells, at: place, into: &readings)
            }
            if case .readings = outcome { return outcome }
            return .skipped(summary.kind)
        } catch {
            throw Refusal(error.reason, at: place)
        }
    }

    private func lose(_ reason: String, _ place: Place) -> Refusal {
        state = .lost(reason)
        return Refusal(reason, at: place)
    }

    private func texts(_ row: TextRow) -> [String] { row.cells.indices.map { row.text($0) } }

    private func bindPaths() {
        let binding = HeaderBinding(paths: channel.columns)
        if let table = BoundTable(channel, binding: binding, began: nil, options: options, registry: registry) {
            adopt(table, binding)
        }
    }

    private func adopt(_ table: BoundTable, _ binding: HeaderBinding) {
        if options.dateOrder == nil {
            table.times.order = orders.decided
            table.times.contradictory = orders.isContradictory
        }
        table.signs = signs
        self.table = table
        state = .rows
        for rule in channel.readings where binding.has(rule.column) {
            guard case .assumed(let unit, let instead) = rule.unit else { continue }
            let name = binding.names[rule.column] ?? channel.columns[rule.column].name
            let given = BoundReading.override(rule.column, channel, binding, options)
            let note =
                given.map { "\(name) is read as \($0.code) (--unit)" }
                ?? "\(name) is read as \(unit.code), because the file has no unit: use --unit \(name)=\(instead ?? "CODE") to change it"
            if !notes.contains(note) { notes.append(note) }
        }
    }
}

/// Lends a row's cells to a closure. `withUnsafeBufferPointer` cannot throw typed errors in every supported toolchain.
@inline(__always) private func withCells<Result, Failure: Error>(
    _ row: TextRow, _ body: (Cells) throws(Failure) -> Result
) throws(Failure) -> Result {
    let outcome = row.cells.withUnsafeBufferPointer { cells -> Swift.Result<Result, Failure> in
        do throws(Failure) {
            return .success(try body(cells))
        } catch {
            return .failure(error)
        }
    }
    return try outcome.get()
}

/// Thrown when a survey has seen enough rows.
private struct Enough: Error {}

extension ProfileInterpreter {
    /// The maximum number of rows in a survey. A year of readings every five minutes has 105,120.
    private static let surveyed = 200_000

    /// Whether the order of dates or the decimal sign can be decided only from all rows together.
    package var needsSurvey: Bool {
        channel.times.contains { $0.mayBeContested && options.dateOrder == nil }
            || (channel.kind == .csv && channel.decimal == .auto && options.decimal == nil)
    }

    /// Reads the file once before its rows are interpreted, if ``needsSurvey`` is true.
    package func survey(_ source: some FrameSource) throws {
        guard needsSurvey else { return }
        var discarded: [Reading] = []
        var rows = 0
        do {
            try source.forEachFrame { frame in
                guard case .row(let row) = frame.payload else { return }
                guard let table else {
                    _ = try? interpret(frame, into: &discarded)
                    return
                }
                // A row that may be truncated is not evidence.
                guard !frame.isProvisional else { return }
                withCells(row) { table.survey($0, &orders, &signs) }
                rows += 1
                if rows >= Self.surveyed { throw Enough() }
            }
        } catch is Enough {}
        notes = channel.notes
        began = nil
        table = nil
        state = Self.start(channel)
        if channel.kind == .json { bindPaths() }
        if let order = orders.decided, options.dateOrder == nil, channel.times.contains(where: \.mayBeContested) {
            notes.append("dates are read as \(order.rawValue), as the file's own dates show")
        }
    }
}
