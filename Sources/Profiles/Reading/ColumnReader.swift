import HealthModel
import Pipeline

/// Resolves the names of a channel's columns.
struct ColumnReader {
    let columns: [ColumnRule]
    let channel: ProfileNode

    func index(_ node: ProfileNode) -> Int? {
        guard let name = node.text() else { return nil }
        if let index = columns.firstIndex(where: { $0.name == name }) { return index }
        node.problem("there is no column '\(name)', expected one of  \(columns.map(\.name).joined(separator: ", "))")
        return nil
    }

    /// Returns the columns that a text or a list of texts names.
    func indices(_ node: ProfileNode) -> [Int] {
        if case .array = node.value { return node.elements().compactMap(index) }
        return index(node).map { [$0] } ?? []
    }

    /// Reads a text, or `{column: …}`.
    func textRule(_ node: ProfileNode) -> TextRule? {
        if case .object = node.value {
            let members = node.members(["column", "map"])
            guard let column = members["column"] else {
                node.problem("column is missing")
                return nil
            }
            let columns = indices(column)
            let map = members["map"]?.anyMembers().compactMapValues { $0.text() }
            return columns.isEmpty ? nil : .cells(columns, map: map)
        }
        return node.text().map { .constant($0) }
    }
}

/// Reads `times` and `end`.
struct TimeReader {
    let table: ColumnReader

    func time(_ node: ProfileNode, hasSummary: Bool) -> TimeRule? {
        let members = node.members(["columns", "patterns", "zone", "offset", "from", "elapsed", "ticks", "day"])
        var rule = TimeRule(columns: [], patterns: [])
        rule.zone = members["zone"]?.choice(TimeRule.Zone.self) ?? .written
        rule.elapsed = members["elapsed"].flatMap(table.index)
        rule.ticks = members["ticks"].flatMap(table.index)
        if let offset = members["offset"] {
            let parts = offset.members(["column", "in"])
            if rule.zone != .utc { offset.problem("times that are not in UTC have their offset, or none") }
            if let column = parts["column"].flatMap(table.index) {
                rule.offset = OffsetRule(column: column, unit: parts["in"]?.choice(OffsetRule.Unit.self) ?? .seconds)
            }
        }
        if let from = members["from"] {
            guard from.text() == "summary", hasSummary else {
                from.problem("only \"summary\" is allowed here, and the channel needs a summary")
                return nil
            }
            guard rule.elapsed != nil else {
                node.problem("elapsed is missing")
                return nil
            }
            rule.fromSummary = true
            return rule
        }
        rule.columns = (members["columns"]?.elements() ?? []).compactMap(table.index)
        rule.isDay = members["day"]?.boolean() ?? false
        rule.patterns = (members["patterns"]?.elements() ?? []).compactMap { pattern($0, isDay: rule.isDay) }
        guard !rule.columns.isEmpty, !rule.patterns.isEmpty else {
            node.problem("columns or patterns is missing")
            return nil
        }
        return rule
    }

    func end(_ node: ProfileNode) -> EndRule? {
        let members = node.members(["duration", "in", "after", "columns", "patterns"])
        if let after = members["after"] {
            guard let count = after.integer(1...1_000_000),
                let unit = members["in"]?.choice(EndRule.DurationUnit.self)?.microseconds
            else {
                node.problem("in is missing: the unit of after, one of ms, s, min and h")
                return nil
            }
            return .fixed(Int64(count) * Int64(unit))
        }
        if let duration = members["duration"] {
            let unit = members["in"]?.choice(EndRule.DurationUnit.self) ?? .clock
            return table.index(duration).map { .duration($0, unit) }
        }
        let columns = (members["columns"]?.elements() ?? []).compactMap(table.index)
        let patterns = (members["patterns"]?.elements() ?? []).compactMap { pattern($0) }
        guard !columns.isEmpty, !patterns.isEmpty else {
            node.problem("duration, after, or columns and patterns, is missing")
            return nil
        }
        return .time(columns: columns, patterns: patterns)
    }

    func pattern(_ node: ProfileNode, isDay: Bool = false) -> TimePattern? {
        guard let text = node.text() else { return nil }
        do throws(ProfileProblem) {
            return try TimePattern(text, isDay: isDay)
        } catch {
            node.problem(error.message)
            return nil
        }
    }
}

/// Reads `readings`.
struct ReadingReader {
    let table: ColumnReader
    let spellings: [String: Unit]
    let outer: TableChannelReader

    func reading(_ node: ProfileNode) -> ReadingRule? {
        let members = node.members([
            "column", "type", "unit", "when", "texts", "metadata", "cases", "always", "figures", "moment",
        ])
        for key in ["column", "type"] where members[key] == nil { node.problem("\(key) is missing") }
        guard let column = members["column"].flatMap(table.index), let type = members["type"].flatMap(type) else { return nil }
        var rule = ReadingRule(column: column, type: type, unit: .fixed(.one))
        if case .fixed(let object) = type, object.kind != .quantity {
            guard object.kind == .category || object.kind == .workout else {
                node.problem("a row can contain quantities, categories and workouts, and \(object.id) is none of these")
                return nil
            }
            for key in ["unit", "texts"] { members[key]?.problem("\(object.id) has none") }
            if let always = members["always"], members["cases"] == nil {
                rule.cases = [:]
                rule.always = always.text().flatMap { object.categoryValues?.value(of: $0) }
                if rule.always == nil { always.problem("it is not a case of \(object.id)") }
            } else {
                members["always"]?.problem("set cases or always, not both")
                rule.cases = cases(members["cases"], of: object, node)
            }
            for figure in members["figures"]?.elements() ?? [] {
                if object.kind != .workout { figure.problem("only a workout has figures") }
                if let figure = self.figure(figure) { rule.figures.append(figure) }
            }
        } else {
            for key in ["cases", "always", "figures"] { members[key]?.problem("a quantity has none") }
            if members["unit"] == nil { node.problem("unit is missing") }
            guard let unit = members["unit"].flatMap({ self.unit($0, column: column, type: type) }) else { return nil }
            rule.unit = unit
        }
        for (name, node) in (members["when"]?.anyMembers() ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let index = table.columns.firstIndex(where: { $0.name == name }) else {
                node.problem("there is no column '\(name)'")
                continue
            }
            rule.conditions.append(Condition(column: index, values: node.texts().map { Array($0.utf8) }))
        }
        for (text, node) in (members["texts"]?.anyMembers() ?? [:]).sorted(by: { $0.key < $1.key }) {
            if let limit = limit(text, node) { rule.texts.append(limit) }
        }
        rule.metadata = members["metadata"].map { outer.metadata($0, table) } ?? []
        rule.isMoment = members["moment"]?.boolean() ?? false
        return rule
    }

    /// Reads the maker's word for each case of a type.
    private func cases(_ node: ProfileNode?, of type: SampleType, _ reading: ProfileNode) -> [String: Int] {
        guard let node else {
            reading.problem("cases is missing: which of the maker's words is which case of \(type.id)")
            return [:]
        }
        var cases: [String: Int] = [:]
        for (word, name) in node.anyMembers() {
            guard let text = name.text() else { continue }
            if let number = type.categoryValues?.value(of: text) {
                cases[word] = number
            } else {
                name.problem("'\(text)' is not a case of \(type.id)")
            }
        }
        return cases
    }

    private func figure(_ node: ProfileNode) -> FigureRule? {
        let members = node.members(["column", "type", "unit", "is"])
        for key in ["column", "type", "unit", "is"] where members[key] == nil { node.problem("\(key) is missing") }
        guard let column = members["column"].flatMap(table.index), let type = members["type"].flatMap(type),
            let unit = members["unit"].flatMap({ self.unit($0, column: column, type: type) }),
            let part = members["is"]?.choice(FigureRule.Part.self)
        else { return nil }
        guard case .fixed(let known) = type, known.kind == .quantity else {
            node.problem("a figure is of one quantity type")
            return nil
        }
        return FigureRule(part: part, reading: ReadingRule(column: column, type: type, unit: unit))
    }

    private func type(_ node: ProfileNode) -> ReadingRule.TypeRule? {
        if case .object = node.value { return node.members(["column"])["column"].flatMap(table.index).map { .cell($0) } }
        guard let id = node.text() else { return nil }
        if let type = SampleType(id) { return .fixed(type) }
        node.problem("'\(id)' is not a quantity type (see 'vitalgate types')")
        return nil
    }

    private func unit(_ node: ProfileNode, column: Int, type: ReadingRule.TypeRule) -> ReadingRule.UnitRule? {
        guard case .object = node.value else {
            guard let unit = outer.unit(node) else { return nil }
            check(unit, type, node)
            return .fixed(unit)
        }
        let members = node.members(["header", "column", "behind", "assume", "instead"])
        if let trailing = members["behind"] {
            guard case .boolean(true) = trailing.value, !spellings.isEmpty else {
                trailing.problem("it must be true, and the channel's units list the units after the number")
                return nil
            }
            return .trailing
        }
        if let header = members["header"] {
            let source: Int? = if case .boolean(true) = header.value { column } else { table.index(header) }
            guard let source else { return nil }
            if !table.columns[source].patterns.contains(where: \.hasUnit) { header.problem("no name of that column has {unit}") }
            for unit in spellings.values { check(unit, type, node) }
            if spellings.isEmpty { header.problem("{unit} needs the channel's units, but there are none") }
            return .header(source)
        }
        if let cell = members["column"] { return table.index(cell).map { .cell($0) } }
        guard let assumed = members["assume"] else {
            node.problem("the unit needs one of header, column, behind and assume")
            return nil
        }
        guard let unit = outer.unit(assumed) else { return nil }
        check(unit, type, assumed)
        return .assumed(unit, instead: members["instead"].flatMap(outer.unit)?.code)
    }

    private func check(_ unit: Unit, _ type: ReadingRule.TypeRule, _ node: ProfileNode) {
        guard case .fixed(let type) = type else { return }
        do throws(UnitError) {
            _ = try type.conversion(from: unit)
        } catch {
            node.problem("\(type.id): \(error)")
        }
    }

    private func limit(_ text: String, _ node: ProfileNode) -> LimitText? {
        let members = node.members(["limit", "values"])
        guard let side = members["limit"]?.choice(LimitText.Side.self) else {
            node.problem("limit (lower or upper) is missing")
            return nil
        }
        guard let values = members["values"] else {
            if (try? Numeral(text)) == nil { node.problem("values is missing: only a text that is a number may go without") }
            return LimitText(text: Array(text.utf8), side: side, limits: [])
        }
        var limits: [(unit: Unit, numeral: Numeral)] = []
        for (code, value) in values.anyMembers().sorted(by: { $0.key < $1.key }) {
            do {
                guard let text = value.text() else { continue }
                limits.append((try Unit(ucum: code), try Numeral(text)))
            } catch {
                value.problem("\(error)")
            }
        }
        return LimitText(text: Array(text.utf8), side: side, limits: limits)
    }
}
