import HealthModel
import Pipeline

/// A channel resolved against one file. A row costs a few comparisons and no allocation.
final class BoundTable {
    struct Failure: Error {
        var reason: String
        init(_ reason: String) { self.reason = reason }
    }

    private let channel: TableChannel
    private let binding: HeaderBinding
    private let width: Int
    private let isGuarded: Bool
    private let skips: [(cell: Int, values: [[UInt8]], isNegated: Bool, outcome: FrameOutcome)]
    private let heading: (cell: Int, patterns: [TimePattern])?
    private let person: (cell: Int, name: String)?
    @exclusivity(unchecked) private var firstPerson: [UInt8]?
    private let apart: Int?
    private let records: RecordCells?
    private let readings: [BoundReading]
    /// The cells that some rule reads.
    private let used: Set<Int>
    private let objects: [BoundObject]
    @exclusivity(unchecked) private var plain: PlainRow?
    let times: TableTimes
    @exclusivity(unchecked) private var unreadColumns: UnreadColumns?
    @exclusivity(unchecked) var signs: DecimalSigns

    /// Outcomes without a text of their own.
    private static let blank = FrameOutcome.skipped(SkipKind("blank"))
    private static let noValue = FrameOutcome.skipped(SkipKind("no-value"))

    /// - Returns: nil if the file has no time column or no reading of the channel.
    init?(
        _ channel: TableChannel, binding: HeaderBinding, began: Timestamp?, options: InterpreterOptions, registry: OriginRegistry
    ) {
        guard let rule = channel.times.first(where: binding.has) else { return nil }
        self.channel = channel
        self.binding = binding
        width = binding.width
        skips = channel.skips.filter { binding.has($0.column) }.map {
            (binding.cells[$0.column], $0.values, $0.isNegated, .skipped($0.kind))
        }
        heading = channel.heading.map { (binding.cells[$0.column], $0.patterns) }
        person = channel.person.flatMap { binding.has($0) ? (binding.cells[$0], binding.names[$0] ?? "") : nil }
        let apart = channel.apart.flatMap { binding.has($0) ? binding.cells[$0] : nil }
        self.apart = apart
        records = channel.record.flatMap { RecordCells($0, apart: apart, binding) }
        isGuarded = !skips.isEmpty || heading != nil || person != nil
        func bound(_ rule: ReadingRule) -> BoundReading? {
            BoundReading(
                rule, channel: channel, binding: binding, options: options,
                origins: OriginFinder(rule, channel: channel, binding: binding, registry: registry))
        }
        readings = channel.readings.filter { $0.cases == nil }.compactMap(bound)
        objects = channel.readings.filter { $0.cases != nil }.compactMap { rule in
            guard let reading = bound(rule) else { return nil }
            let figures = rule.figures.compactMap { figure in bound(figure.reading).map { (figure.part, $0) } }
            return BoundObject(rule, reading, figures, hasDuration: channel.end?.isDuration ?? false)
        }
        times = TableTimes(
            rule: rule, end: channel.end, binding: binding, began: began,
            offsetEmpties: rule.offset.map { channel.empties + channel.columns[$0.column].empties } ?? [])
        times.order = options.dateOrder
        times.needsHeading = heading != nil
        signs = DecimalSigns()
        if let decimal = options.decimal { signs = DecimalSigns(decided: decimal) }
        guard !readings.isEmpty || !objects.isEmpty else { return nil }
        let read = readings.map(\.cells) + objects.map(\.cells)
        used = UnreadColumns.used(channel, binding, rule, read)
        unreadColumns = UnreadColumns(channel, binding, used: used)
        guard readings.count == 1, objects.isEmpty, !isGuarded, records == nil, let only = readings.first else { return }
        plain = PlainRow(only, times: times, width: width)
    }

    deinit { plain?.deallocate() }

    /// The values that the rows so far contain in columns that no rule reads.
    var unread: Unread { unreadColumns?.unread ?? Unread() }

    /// Whether truncating the last cell cannot give a different reading. This is so if no rule reads the cell, or if a truncated or empty
    /// value is refused, such as a unit or a person's UUID.
    func isWhole(_ cells: Cells) -> Bool {
        let last = cells.count - 1
        guard cells.count >= width, used.contains(last) else { return cells.count >= width }
        if let person = channel.personID, binding.cells[person] == last {
            return trimmed(cells[last]).count == SampleIdentity.textLength
        }
        return readings.allSatisfy { $0.unitCell == last && $0.cells.count { $0 == last } == 1 } && objects.isEmpty
    }

    /// Interprets one row. Appends nothing if it throws.
    func interpret(_ cells: Cells, at place: Place, into output: inout [Reading]) throws(Failure) -> FrameOutcome {
        let outcome = try row(cells, at: place, into: &output)
        // Rows that a rule skips are counted under the rule's name.
        if unreadColumns != nil, outcome == .readings || outcome == Self.noValue { unreadColumns?.note(cells) }
        return outcome
    }

    @inline(__always)
    private func row(_ cells: Cells, at place: Place, into output: inout [Reading]) throws(Failure) -> FrameOutcome {
        if let plain, plain.take(cells, at: place, into: &output) { return .readings }
        if cells.count != width || isGuarded || cells[0].isEmpty, let outcome = try guarded(cells) { return outcome }
        let first = output.count
        var whole: [Reading] = []
        var time: ReadingTime?
        do throws(Failure) {
            for reading in readings where reading.applies(cells) {
                let cell = trimmed(cells[reading.cell])
                if reading.isEmpty(cell) { continue }
                let bytes = reading.number(cell)
                let numeral = try reading.numeral(bytes, signs: signs)
                // The time is read after the values, so that a row without values is not refused for its time.
                let start: ReadingTime
                if let time { start = time } else { start = try self.time(cells) }
                time = start
                let unit = try reading.unit(cells)
                let origin = try reading.origins.origin(cells)
                if let numeral {
                    let metadata = reading.metadata.metadata(cells, limit: nil)
                    output.append(
                        Reading(
                            origin: origin, numeral: numeral, unit: unit, time: reading.isMoment ? start.moment : start,
                            metadata: metadata,
                            timeResolution: times.resolution, place: place))
                } else {
                    let limit = try reading.limit(bytes, in: unit)
                    let metadata = reading.metadata.metadata(cells, limit: limit.side)
                    output.append(
                        Reading(
                            origin: origin, numeral: limit.numeral, unit: unit, time: reading.isMoment ? start.moment : start,
                            metadata: metadata,
                            timeResolution: times.resolution, place: place)
                    )
                }
            }
            for object in objects where object.reading.applies(cells) {
                let word = trimmed(cells[object.reading.cell])
                if object.reading.isEmpty(word) { continue }
                let start: ReadingTime
                if let time { start = time } else { start = try self.time(cells) }
                time = start
                whole.append(try object.made(cells, word, start, times.resolution, signs, at: place))
            }
        } catch {
            output.removeSubrange(first...)
            if binding.isHeader(cells, of: channel) { return .notData }
            throw error
        }
        if output.count - first > 1 { join(&output, from: first) }
        if let apart, output.count > first {
            let ordinal = BoundObject.hash(trimmed(cells[apart]))
            for index in first..<output.count { output[index].ordinal ^= ordinal }
        }
        // Objects made from the whole row belong to none of its groups.
        output += whole
        if let records, let time, output.count > first, let record = records.record(cells, time) {
            // A reading at the start of the row is not a statistic of its period.
            for index in first..<output.count where !records.isPeriod || output[index].time == time {
                output[index].record = record
            }
        }
        return output.count == first ? Self.noValue : .readings
    }

    /// Handles rows before their values are read: checks their length and applies the rules that skip them.
    private func guarded(_ cells: Cells) throws(Failure) -> FrameOutcome? {
        if isBlank(cells) { return Self.blank }
        if let heading, take(heading, cells) { return .notData }
        if cells.count < width {
            // A line between two tables has its own length.
            for skip in skips
            where !skip.isNegated && skip.cell < cells.count && isOne(trimmed(cells[skip.cell]), of: skip.values) {
                return skip.outcome
            }
        }
        if cells.count != width { try checkWidth(cells) }
        for skip in skips where isOne(trimmed(cells[skip.cell]), of: skip.values) != skip.isNegated { return skip.outcome }
        if let person {
            let own = trimmed(cells[person.cell])
            if let firstPerson {
                guard own.elementsEqual(firstPerson) else {
                    throw Failure(
                        "\(person.name) differs from the rows before: the file contains several people, so use one file for each person"
                    )
                }
            } else if own.count <= 256 {
                firstPerson = Array(own)
            }
        }
        return nil
    }

    /// Whether the row consists only of a date, which applies to the rows after it.
    private func take(_ heading: (cell: Int, patterns: [TimePattern]), _ cells: Cells) -> Bool {
        guard heading.cell < cells.count else { return false }
        let text = trimmed(cells[heading.cell])
        guard cells.indices.allSatisfy({ $0 == heading.cell || trimmed(cells[$0]).isEmpty }),
            heading.patterns.contains(where: { $0.parse(text) != nil })
        else { return false }
        times.heading = Array(text)
        return true
    }

    private func time(_ cells: Cells) throws(Failure) -> ReadingTime {
        do throws(TableTimes.Failure) {
            return try times.time(cells)
        } catch {
            throw Failure(times.isEmpty(cells) ? "it has values but no time" : error.reason)
        }
    }

    /// Groups the readings of one row. Equal readings are numbered in their order.
    private func join(_ output: inout [Reading], from first: Int) {
        for index in first..<output.count {
            output[index].group = .frame
            var ordinal: UInt32 = 0
            for other in first..<index
            where output[other].origin == output[index].origin && output[other].numeral == output[index].numeral
                && output[other].unit == output[index].unit
            {
                ordinal += 1
            }
            output[index].ordinal = ordinal
        }
    }

    /// Notes the date orders and decimal signs that the row allows.
    func survey(_ cells: Cells, _ orders: inout DateOrders, _ signs: inout DecimalSigns) {
        guard cells.count >= width else { return }
        orders.note(times.orders(cells))
        for reading in readings where reading.decimal == .auto && reading.applies(cells) {
            signs.note(trimmed(cells[reading.cell]))
        }
    }

    private func isBlank(_ cells: Cells) -> Bool { cells.allSatisfy { trimmed($0).isEmpty } }

    /// Checks the row's length. A shorter row was truncated. A longer row has an extra separator, so its cells are in the wrong columns.
    private func checkWidth(_ cells: Cells) throws(Failure) {
        guard cells.count >= width else { throw Failure("it has \(cells.count) columns and the header has \(width)") }
        guard cells.dropFirst(width).allSatisfy({ trimmed($0).isEmpty }) else {
            throw Failure("it has \(cells.count) columns and the header has \(width): a value may contain a separator")
        }
    }
}

extension HeaderBinding {
    /// Whether a row repeats the header, as in concatenated files.
    func isHeader(_ cells: Cells, of channel: TableChannel) -> Bool {
        guard channel.kind == .csv else { return false }
        return zip(self.cells, names).allSatisfy { index, name in
            guard let name, index >= 0 else { return true }
            return index < cells.count && HeaderPattern.trimmed(String(decoding: cells[index], as: UTF8.self)) == name
        }
    }
}
