import HealthModel
import Pipeline

/// Reads a channel of kind `csv`, `json` or `sqlite` from its document.
struct TableChannelReader {
    let node: ProfileNode
    let profileID: String
    let profileName: String

    private static let keys = [
        "channel", "delimiters", "decimal", "empty", "headerWithin", "summary", "columns", "times", "end", "skip", "readings",
        "device", "heading", "rows", "person", "apart", "table", "join", "without", "order", "anyOf", "ignored", "record",
        "source", "subject", "metadata", "units", "notes",
    ]

    func read(_ kind: TableChannel.Kind) -> TableChannel {
        let members = node.members(Self.keys)
        var channel = TableChannel(kind: kind, source: SourceRule(id: "file." + profileID, name: .constant(profileName)))
        if kind != .csv {
            for key in ["delimiters", "headerWithin", "summary", "decimal", "heading"] {
                members[key]?.problem("only CSV has one")
            }
        }
        if kind != .json { members["rows"]?.problem("only JSON has rows inside another value") }
        if kind != .json { members["anyOf"]?.problem("only JSON has one") }
        if kind == .sqlite { members["ignored"]?.problem("the profile's own ignored is for databases") }
        if kind != .sqlite {
            for key in ["table", "join", "without", "order"] { members[key]?.problem("only a database has tables") }
        }
        channel.rows = members["rows"]?.text()
        if let delimiters = members["delimiters"] {
            channel.delimiters = delimiters.texts().compactMap { text in
                if let byte = text.utf8.first, text.utf8.count == 1, TableChannel.allDelimiters.contains(byte) { return byte }
                delimiters.problem("a delimiter is one of , ; | and a tab")
                return nil
            }
        }
        if let decimal = members["decimal"]?.choice(DecimalRule.self) { channel.decimal = decimal }
        channel.empties = (members["empty"]?.texts() ?? []).map { Array($0.utf8) }
        channel.headerWithin = members["headerWithin"]?.integer(1...100) ?? 1
        channel.notes = members["notes"]?.texts() ?? []
        for (spelling, node) in members["units"]?.anyMembers() ?? [:] { channel.units[spelling] = unit(node) }

        if let columns = members["columns"] {
            channel.columns = self.columns(columns, kind)
        } else {
            node.problem("columns is missing")
        }
        let table = ColumnReader(columns: channel.columns, channel: node)
        channel.summary = members["summary"].flatMap(summary)
        channel.times = (members["times"]?.elements() ?? []).compactMap {
            TimeReader(table: table).time($0, hasSummary: channel.summary != nil)
        }
        if channel.times.isEmpty { node.problem("times is missing: without a time there is no reading") }
        channel.end = members["end"].flatMap { TimeReader(table: table).end($0) }
        channel.skips = (members["skip"]?.elements() ?? []).compactMap { skip($0, table) }
        channel.metadata = members["metadata"].map { metadata($0, table) } ?? []
        let hasPeriod = members["end"] != nil || channel.times.contains(where: \.isDay)
        channel.readings = (members["readings"]?.elements() ?? []).compactMap {
            guard let rule = ReadingReader(table: table, spellings: channel.units, outer: self).reading($0) else { return nil }
            if rule.isMoment || !hasPeriod { checkPeriod(of: rule, $0) }
            return rule
        }
        if channel.readings.isEmpty { node.problem("readings is missing: the channel would read nothing") }
        channel.device = members["device"].map { device($0, table) }
        if let source = members["source"] { channel.source = self.source(source, table) }
        channel.person = members["person"].flatMap(table.index)
        channel.apart = members["apart"].flatMap(table.index)
        channel.anyOf = members["anyOf"].map(table.indices) ?? []
        channel.ignored = (members["ignored"]?.texts() ?? []).map { HeaderPattern($0) }
        channel.record = members["record"].flatMap { record($0, table) }
        if kind == .sqlite { channel.foreign = foreign(members, channel) }
        channel.heading = members["heading"].flatMap { heading($0, table) }
        channel.personID = members["subject"].flatMap { $0.members(["column"])["column"] }.flatMap(table.index)
        return channel
    }

    func unit(_ node: ProfileNode) -> Unit? {
        guard let code = node.text() else { return nil }
        do throws(UnitError) {
            return try Unit(ucum: code)
        } catch {
            node.problem("\(error)")
            return nil
        }
    }

    private func columns(_ node: ProfileNode, _ kind: TableChannel.Kind) -> [ColumnRule] {
        node.anyMembers().sorted { $0.key < $1.key }.map { name, node in
            var column = ColumnRule(name: name)
            let keys =
                switch kind {
                case .csv: ["names", "position", "nth", "required", "group", "empty"]
                case .json: ["path", "required", "group", "empty"]
                case .sqlite: ["is", "joined", "required", "empty", "octets"]
                }
            let members = node.members(keys)
            column.patterns = (members["names"]?.texts() ?? []).map { HeaderPattern($0) }
            column.position = members["position"]?.integer(1...4096).map { $0 - 1 }
            column.nth = members["nth"]?.integer(1...100)
            if column.nth != nil, column.position != nil { node.problem("nth is only for columns with names") }
            column.path = members["path"]?.text()
            column.isRequired = members["required"]?.boolean() ?? true
            column.empties = (members["empty"]?.texts() ?? []).map { Array($0.utf8) }
            if let group = members["group"] {
                if let byte = group.text()?.utf8.first,
                    [UInt8(ascii: ","), UInt8(ascii: "."), UInt8(ascii: " "), UInt8(ascii: "'")].contains(byte)
                {
                    column.group = byte
                } else {
                    group.problem("a separator between thousands is one of , . ' and a blank")
                }
            }
            if kind == .csv, column.patterns.isEmpty, column.position == nil { node.problem("names or position is missing") }
            if kind == .json, column.path == nil { node.problem("path is missing") }
            if kind == .sqlite {
                column.path = members["is"]?.text()
                if column.path == nil { node.problem("is is missing: the name of the column in the database") }
                // The source's header uses the profile's names.
                column.patterns = [HeaderPattern(name)]
            }
            return column
        }
    }

    private func foreign(_ members: [String: ProfileNode], _ channel: TableChannel) -> ForeignTable? {
        guard let name = members["table"]?.text() else {
            node.problem("table is missing")
            return nil
        }
        var table = ForeignTable(name: name, columns: [])
        for join in members["join"].map(Self.elements) ?? [] {
            let parts = join.members(["table", "column", "key", "from", "during"])
            guard let other = parts["table"]?.text(), let column = parts["column"]?.text(), let key = parts["key"]?.text() else {
                join.problem("table, column and key are needed")
                return nil
            }
            var joined = ForeignTable.Join(
                table: other, from: parts["from"].flatMap { self.join($0, table) }, column: column, key: key)
            if let during = parts["during"] {
                let names = during.texts()
                guard names.count == 2, joined.from == nil else {
                    during.problem("it is a list of two columns of both tables, the start and the end, and the join has no from")
                    return nil
                }
                joined.period = .init(start: names[0], end: names[1])
            }
            table.joins.append(joined)
        }
        let columns = members["columns"]?.anyMembers() ?? [:]
        for rule in channel.columns {
            let parts = columns[rule.name]?.anyMembers()
            table.columns.append(
                ForeignTable.Column(
                    rule.name, is: rule.path ?? "", join: parts?["joined"].flatMap { self.join($0, table) },
                    isRequired: rule.isRequired, isBinary: parts?["octets"]?.boolean() ?? false))
        }
        if let without = members["without"] {
            let parts = without.members(["table", "column", "key", "where"])
            guard let other = parts["table"]?.text(), let column = parts["column"]?.text(), let key = parts["key"]?.text() else {
                without.problem("table, column and key are needed")
                return nil
            }
            let condition = parts["where"]?.anyMembers().sorted { $0.key < $1.key }.first
            table.exclusion = ForeignTable.Exclusion(
                table: other, column: column, key: key,
                condition: condition.map { ForeignTable.Exclusion.Condition(column: $0.key, values: $0.value.texts()) })
        }
        let reader = ColumnReader(columns: channel.columns, channel: node)
        table.order = (members["order"].map(reader.indices) ?? []).map { channel.columns[$0].name }
        table.person = channel.person.map { channel.columns[$0].name }
        table.empties = channel.empties.map { String(decoding: $0, as: UTF8.self) }
        return table
    }

    private static func elements(_ node: ProfileNode) -> [ProfileNode] {
        if case .array = node.value { node.elements() } else { [node] }
    }

    /// Returns one of the joins, by its table's name, or by `true` if there is only one.
    private func join(_ node: ProfileNode, _ table: ForeignTable) -> Int? {
        if case .boolean(let isJoined) = node.value {
            if !isJoined { return nil }
            if table.joins.count != 1 { node.problem("there are several joins: the name of the table is required") }
            return table.joins.count == 1 ? 0 : nil
        }
        guard let name = node.text() else { return nil }
        let index = table.joins.firstIndex { $0.table == name }
        if index == nil { node.problem("no join before it has the table '\(name)'") }
        return index
    }

    /// Reports a count without a period, such as the steps of a minute whose start is also its end. It could not be compared with the counts
    /// of other sources, so both would be added.
    private func checkPeriod(of rule: ReadingRule, _ node: ProfileNode) {
        guard case .fixed(let type) = rule.type, type.isCountedOverTime else { return }
        node.problem(
            "\(type.id) is counted over a period, but the reading starts and ends at the same time: add end to the channel, "
                + "such as end: { after: 1, in: \"min\" }, or day: true to its times, and no moment")
    }

    private func record(_ node: ProfileNode, _ table: ColumnReader) -> RecordRule? {
        let members = node.members(["id", "period", "version", "grows", "longer", "parts", "open", "same"])
        var rule = RecordRule()
        rule.ids = members["id"].map(table.indices) ?? []
        rule.isPeriod = members["period"]?.boolean() ?? false
        guard rule.ids.isEmpty == rule.isPeriod else {
            node.problem("set one of id and period: what identifies the record")
            return nil
        }
        rule.versions = members["version"].map(table.indices) ?? []
        rule.growing = members["grows"].map(table.indices) ?? []
        rule.isLonger = members["longer"]?.boolean() ?? false
        if [!rule.versions.isEmpty, !rule.growing.isEmpty, rule.isLonger].count(where: { $0 }) > 1 {
            node.problem("set one of version, grows and longer")
        }
        rule.same = members["same"].map(table.indices) ?? []
        rule.hasParts = members["parts"]?.boolean() ?? false
        rule.isOpen = members["open"]?.boolean() ?? (rule.versions.isEmpty && !rule.hasParts)
        if rule.hasParts, rule.isPeriod || rule.isOpen { node.problem("a record with parts needs an id and a version") }
        return rule
    }

    private func summary(_ node: ProfileNode) -> SummaryTable? {
        let members = node.members(["columns", "time", "skip", "end", "readings"])
        guard let columns = members["columns"], let time = members["time"] else {
            node.problem("columns or time is missing")
            return nil
        }
        let rules = self.columns(columns, .csv)
        let table = ColumnReader(columns: rules, channel: node)
        guard let time = TimeReader(table: table).time(time, hasSummary: false) else {
            return nil
        }
        var summary = SummaryTable(columns: rules, time: time, kind: SkipKind(members["skip"]?.text() ?? "summary"))
        summary.end = members["end"].flatMap { TimeReader(table: table).end($0) }
        summary.readings = (members["readings"]?.elements() ?? []).compactMap {
            ReadingReader(table: table, spellings: [:], outer: self).reading($0)
        }
        return summary
    }

    private func heading(_ node: ProfileNode, _ table: ColumnReader) -> HeadingRule? {
        let members = node.members(["column", "patterns"])
        guard let column = members["column"].flatMap(table.index), let patterns = members["patterns"] else {
            node.problem("column or patterns is missing")
            return nil
        }
        return HeadingRule(
            column: column, patterns: patterns.elements().compactMap { TimeReader(table: table).pattern($0, isDay: true) })
    }

    private func skip(_ node: ProfileNode, _ table: ColumnReader) -> SkipRule? {
        let members = node.members(["column", "is", "not", "as"])
        guard let column = members["column"].flatMap(table.index) else {
            if members["column"] == nil { node.problem("column is missing") }
            return nil
        }
        guard let kind = members["as"]?.text() else {
            node.problem("as is missing: the ledger counts these rows under that word")
            return nil
        }
        guard (members["is"] == nil) != (members["not"] == nil) else {
            node.problem("the rows need one of is and not")
            return nil
        }
        let values = (members["is"] ?? members["not"])?.texts() ?? []
        return SkipRule(
            column: column, values: values.map { Array($0.utf8) }, isNegated: members["not"] != nil, kind: SkipKind(kind))
    }

    private func device(_ node: ProfileNode, _ table: ColumnReader) -> DeviceRule {
        let members = node.members(["name", "manufacturer", "model", "serial"])
        return DeviceRule(
            name: members["name"].flatMap(table.textRule), manufacturer: members["manufacturer"].flatMap(table.textRule),
            model: members["model"].flatMap(table.textRule), serial: members["serial"].flatMap(table.textRule))
    }

    private func source(_ node: ProfileNode, _ table: ColumnReader) -> SourceRule {
        let members = node.members(["id", "name", "version"])
        return SourceRule(
            id: members["id"]?.text() ?? "file." + profileID,
            name: members["name"].flatMap(table.textRule) ?? .constant(profileName),
            version: members["version"].flatMap(table.textRule))
    }

    func metadata(_ node: ProfileNode, _ table: ColumnReader) -> [MetadataRule] {
        node.anyMembers().sorted { $0.key < $1.key }.compactMap { key, node in
            if let value = constant(node) { return MetadataRule(key: key, value: .constant(value)) }
            guard case .object = node.value else {
                node.problem("a text, a number, true, false, or {column: …} is expected here")
                return nil
            }
            let members = node.members(["column", "as", "map"])
            guard let column = members["column"].flatMap(table.index) else {
                if members["column"] == nil { node.problem("column is missing") }
                return nil
            }
            if let map = members["map"] {
                return MetadataRule(key: key, value: .mapped(column, map.anyMembers().compactMapValues(constant)))
            }
            let isNumber = members["as"]?.choice(CellKind.self) == .number
            return MetadataRule(key: key, value: isNumber ? .number(column) : .text(column))
        }
    }

    private enum CellKind: String, CaseIterable { case text, number }

    private func constant(_ node: ProfileNode) -> MetadataValue? {
        switch node.value {
        case .string(let text): return .string(text)
        case .boolean(let flag): return .boolean(flag)
        case .number(let number):
            guard let numeral = try? Numeral(number == number.rounded() ? "\(Int(exactly: number) ?? 0)" : "\(number)") else {
                return nil
            }
            return .number(numeral)
        default: return nil
        }
    }
}
