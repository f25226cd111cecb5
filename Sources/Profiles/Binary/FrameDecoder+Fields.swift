import Formats
import HealthModel

/// A frame's fields as one JSON object. Numbers keep the digits they were sent with.
private struct FieldsObject {
    let plan: LayoutPlan
    let frame: DecodedFrame

    /// The fields of one object. Records and repeats become lists.
    func fields(_ range: Range<Int>) -> JSONObject {
        var object = JSONObject()
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
                setList(field, index..<next, in: &object)
            case .list:
                while next < range.upperBound, frame.entries[next].field == entry.field { next += 1 }
                let values = JSONObject(["values": frame.entries[index..<next].map(number)], unit(entry))
                object.set(field.name, values)
            case .adjacent where !field.isHidden:
                for part in field.parts where part.isShown { object.set(part.name, value(of: part, entry.raw)) }
            default: if !field.isHidden { object.set(field.name, value(of: field, entry)) }
            }
            index = next
        }
        return object
    }

    private func setList(_ field: LayoutField, _ range: Range<Int>, in object: inout JSONObject) {
        var list: [JSONObject] = []
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
            list.append(field.shape == .objects && first < index ? element(frame.entries[first]) : fields(first..<index))
        }
        object.set(field.name, list)
        object.set("stopped_at_unknown_object", ifPresent(unknown))
    }

    private func element(_ entry: DecodedFrame.Entry) -> JSONObject {
        let field = plan.fields[Int(entry.field)]
        let value: (any JSONRepresentable)? =
            switch entry.kind {
            case .text: frame.texts[Int(entry.text)]
            case .number where field.shape == .truth: entry.raw != 0
            case .number where field.shape == .instant: instant(entry.raw)
            case .number where field.shape == .text: field.values[entry.raw] ?? ""
            default: number(entry)
            }
        return JSONObject(["id": Int(field.object), "name": field.name, "value": value, "special": special(entry)], unit(entry))
    }

    private func value(of field: LayoutField, _ entry: DecodedFrame.Entry) -> (any JSONRepresentable)? {
        let word = UInt64(bitPattern: entry.raw)
        switch field.shape {
        case .quantity: return JSONObject(["value": number(entry), "special": special(entry)], unit(entry))
        case .bare: return number(entry)
        case .number: return entry.kind == .special ? entry.raw : number(entry)
        case .code: return code(entry.raw, field.values)
        case .text: return entry.kind == .text ? frame.texts[Int(entry.text)] : field.values[entry.raw]
        case .set:
            let names = field.parts.filter { $0.bits.value(of: word) != 0 }.map(\.name)
            return JSONObject(["raw": RawJSON("\(word)"), "set": names])
        case .members:
            var object = JSONObject(["raw": RawJSON("\(word)")])
            for part in field.parts { object.set(part.name, value(of: part, entry.raw)) }
            return object
        case .dateTime: return DeviceDateTime(packed: entry.raw).description
        case .instant: return instant(entry.raw)
        case .truth: return entry.raw != 0
        case .constant(let value): return RawJSON(value.json)
        case .adjacent, .list, .records, .objects: return nil
        }
    }

    private func value(of part: LayoutField.Part, _ raw: Int64) -> (any JSONRepresentable)? {
        let value = Int64(bitPattern: part.bits.value(of: UInt64(bitPattern: raw)))
        return switch part.shape {
        case .code: code(value, part.values)
        case .text: part.values[value]
        case .number: value
        default: value != 0
        }
    }

    /// A code and its name. A code without a name is reserved for future use.
    private func code(_ value: Int64, _ names: [Int64: String]) -> JSONObject { ["code": value, "display": names[value]] }

    private func number(_ entry: DecodedFrame.Entry) -> RawJSON {
        RawJSON(entry.numeral.map { MetadataValue.number($0).json } ?? "null")
    }

    private func special(_ entry: DecodedFrame.Entry) -> any JSONRepresentable {
        ifPresent(entry.kind == .special ? plan.specialNames[Int(entry.special)] : nil)
    }

    private func unit(_ entry: DecodedFrame.Entry) -> KeyValuePairs<String, (any JSONRepresentable)?> {
        ["unit": ifPresent(entry.variant >= 0 ? plan.units[Int(entry.variant)].printed : nil)]
    }

    /// Unix seconds as a date, or `nil` if they are out of range.
    private func instant(_ seconds: Int64) -> String? {
        let (microseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? nil : String(WallTime(microseconds: microseconds).description.dropLast(7)) + "Z"
    }
}

extension FrameDecoder {
    /// Returns the fields as one JSON object, with the names and shapes of the layout.
    package func fieldsJSON(_ frame: DecodedFrame) -> [UInt8] {
        FieldsObject(plan: plan, frame: frame).fields(0..<frame.entries.count).closed
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
