import HealthModel

/// Prints a frame's fields as one JSON object. Numbers keep the digits they were sent with.
struct FieldsText {
    private let plan: LayoutPlan
    private let frame: DecodedFrame
    private var bytes: [UInt8] = []
    /// Whether the next element needs no comma before it.
    private var isFirst = true

    init(plan: LayoutPlan, frame: DecodedFrame) {
        self.plan = plan
        self.frame = frame
    }

    mutating func json() -> [UInt8] {
        bytes = []
        open("{")
        fields(0..<frame.entries.count)
        close("}")
        return bytes
    }

    /// Writes the fields of one object. Records and repeats become lists.
    private mutating func fields(_ range: Range<Int>) {
        var index = range.lowerBound
        while index < range.upperBound {
            let entry = frame.entries[index]
            let field = plan.fields[Int(entry.field)]
            var next = index + 1
            switch field.shape {
            case .records, .objects:
                while next < range.upperBound, frame.entries[next].record >= 0 || frame.entries[next].field == entry.field {
                    next += 1
                }
                list(field, index..<next)
            case .list:
                while next < range.upperBound, frame.entries[next].field == entry.field { next += 1 }
                repeats(field, index..<next)
            default:
                if !field.isHidden { value(field, entry) }
            }
            index = next
        }
    }

    private mutating func list(_ field: LayoutField, _ range: Range<Int>) {
        key(field.name)
        open("[")
        var unknown: Int64?
        var index = range.lowerBound
        while index < range.upperBound {
            if frame.entries[index].kind == .unknownObject {
                unknown = frame.entries[index].raw
                break
            }
            let first = index + 1
            index = first
            while index < range.upperBound, frame.entries[index].kind != .record, frame.entries[index].kind != .unknownObject {
                index += 1
            }
            separate()
            open("{")
            if field.shape == .objects, first < index { object(frame.entries[first]) } else { fields(first..<index) }
            close("}")
        }
        close("]")
        if let unknown {
            key("stopped_at_unknown_object")
            put(String(unknown))
        }
    }

    private mutating func object(_ entry: DecodedFrame.Entry) {
        let field = plan.fields[Int(entry.field)]
        key("id")
        put(String(field.object))
        key("name")
        string(field.name)
        key("value")
        switch entry.kind {
        case .text: string(frame.texts[Int(entry.text)])
        case .number where field.shape == .truth: put(entry.raw == 0 ? "false" : "true")
        case .number where field.shape == .instant: instant(entry.raw)
        case .number where field.shape == .text: string(field.values[entry.raw] ?? "")
        default: number(entry)
        }
        if entry.kind == .special { special(entry) }
        unit(entry)
    }

    private mutating func repeats(_ field: LayoutField, _ range: Range<Int>) {
        key(field.name)
        open("{")
        key("values")
        open("[")
        for index in range {
            separate()
            number(frame.entries[index])
            isFirst = false
        }
        close("]")
        unit(frame.entries[range.lowerBound])
        close("}")
    }

    private mutating func value(_ field: LayoutField, _ entry: DecodedFrame.Entry) {
        if field.shape == .adjacent {
            for part in field.parts where part.isShown { self.part(part, entry.raw) }
            return
        }
        key(field.name)
        switch field.shape {
        case .quantity:
            open("{")
            key("value")
            number(entry)
            if entry.kind == .special { special(entry) }
            unit(entry)
            close("}")
        case .bare: number(entry)
        case .number: entry.kind == .special ? put(String(entry.raw)) : number(entry)
        case .code: code(entry.raw, field.values)
        case .text: entry.kind == .text ? string(frame.texts[Int(entry.text)]) : name(entry.raw, field.values)
        case .set:
            open("{")
            key("raw")
            put(String(UInt64(bitPattern: entry.raw)))
            key("set")
            open("[")
            for part in field.parts where part.bits.value(of: UInt64(bitPattern: entry.raw)) != 0 {
                separate()
                string(part.name)
                isFirst = false
            }
            close("]")
            close("}")
        case .members:
            open("{")
            key("raw")
            put(String(UInt64(bitPattern: entry.raw)))
            for part in field.parts { self.part(part, entry.raw) }
            close("}")
        case .dateTime: string(DeviceDateTime(packed: entry.raw).description)
        case .instant: instant(entry.raw)
        case .truth: put(entry.raw == 0 ? "false" : "true")
        case .constant(let value): put(value.json)
        case .adjacent, .list, .records, .objects: break
        }
    }

    private mutating func part(_ part: LayoutField.Part, _ raw: Int64) {
        key(part.name)
        let value = Int64(bitPattern: part.bits.value(of: UInt64(bitPattern: raw)))
        switch part.shape {
        case .code: code(value, part.values)
        case .text: name(value, part.values)
        case .number: put(String(value))
        default: put(value == 0 ? "false" : "true")
        }
    }

    /// Writes a code and its name. A code without a name is reserved for future use.
    private mutating func code(_ value: Int64, _ names: [Int64: String]) {
        open("{")
        key("code")
        put(String(value))
        key("display")
        name(value, names)
        close("}")
    }

    private mutating func name(_ value: Int64, _ names: [Int64: String]) {
        if let name = names[value] { string(name) } else { put("null") }
    }

    private mutating func number(_ entry: DecodedFrame.Entry) {
        if let numeral = entry.numeral { put(MetadataValue.number(numeral).json) } else { put("null") }
    }

    private mutating func special(_ entry: DecodedFrame.Entry) {
        key("special")
        string(plan.specialNames[Int(entry.special)])
    }

    private mutating func unit(_ entry: DecodedFrame.Entry) {
        guard entry.variant >= 0, let unit = plan.units[Int(entry.variant)].printed else { return }
        key("unit")
        string(unit)
    }

    /// Writes Unix seconds as a date, or null if they are out of range.
    private mutating func instant(_ seconds: Int64) {
        let (microseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return put("null") }
        string(String(WallTime(microseconds: microseconds).description.dropLast(7)) + "Z")
    }

    private mutating func key(_ name: String) {
        separate()
        string(name)
        bytes.append(UInt8(ascii: ":"))
        isFirst = false
    }

    private mutating func separate() {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        isFirst = true
    }

    private mutating func open(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        isFirst = true
    }

    private mutating func close(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        isFirst = false
    }

    private mutating func string(_ text: String) { put(MetadataValue.string(text).json) }

    private mutating func put(_ text: String) {
        bytes += text.utf8
        isFirst = false
    }
}

extension FrameDecoder {
    /// Returns the fields as one JSON object, with the names and shapes of the layout.
    package func fieldsJSON(_ frame: DecodedFrame) -> [UInt8] {
        var text = FieldsText(plan: plan, frame: frame)
        return text.json()
    }

    /// Returns the number in a field outside of records, or `nil` if the field is missing or not a number.
    package func numeral(_ name: String, in frame: DecodedFrame) -> Numeral? { entry(name, frame)?.numeral }

    /// Returns a field that is a date and time, or `nil` if it is missing or of another kind.
    package func dateTime(_ name: String, in frame: DecodedFrame) -> DeviceDateTime? {
        entry(name, frame).flatMap { $0.kind == .dateTime ? DeviceDateTime(packed: $0.raw) : nil }
    }

    private func entry(_ name: String, _ frame: DecodedFrame) -> DecodedFrame.Entry? {
        for (index, field) in plan.fields.enumerated() where field.name == name {
            if let entry = frame.last(Int32(index), record: -1) { return entry }
        }
        return nil
    }
}
