import HealthModel

extension Device {
    /// Parses HealthKit's description of a device:
    ///
    ///     <<HKDevice: 0x2803d9810>, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:10.1>
    ///
    /// The number is an address in the phone's memory. It is ignored, because it differs in every export and often in every record.
    /// Values may contain commas and colons. A value ends before a comma, a blank, a known name and a colon.
    ///
    /// The key consists of manufacturer, model, hardware and the local or UDI identifier if there is one. Software, firmware and name are
    /// not part of it, because they change. The name is only used if nothing else is known.
    ///
    /// - Returns: `nil` if the text contains nothing.
    init?(healthKitDescription text: some Collection<UInt8>) {
        var bytes = Array(Self.withoutAddress(text[...]))
        guard bytes.count < text.count else {
            // Another form than HealthKit's. The whole text becomes the name.
            let name = ExportText.cleaned(bytes)
            guard !name.isEmpty else { return nil }
            self.init(key: name, name: name)
            return
        }
        if bytes.last == UInt8(ascii: ">") { bytes.removeLast() }
        var values: [Field: String] = [:]
        var open: (field: Field, start: Int)?
        var index = 0
        while index < bytes.count {
            if let (field, end) = Self.field(in: bytes, at: index), values[field] == nil, open?.field != field {
                if let open { values[open.field] = ExportText.cleaned(bytes[open.start..<index]) }
                open = (field, end)
                index = end
            } else {
                index += 1
            }
        }
        if let open { values[open.field] = ExportText.cleaned(bytes[open.start...]) }
        values = values.filter { !$0.value.isEmpty }

        let identifier = values[.udi] ?? values[.localIdentifier]
        var parts = [values[.manufacturer] ?? "", values[.model] ?? "", values[.hardware] ?? ""]
        if let identifier { parts.append(identifier) }
        if parts.allSatisfy(\.isEmpty) { parts = [values[.name] ?? ""] }
        // A creation date alone does not identify a device.
        guard parts.contains(where: { !$0.isEmpty }) || values[.firmware] != nil || values[.software] != nil else { return nil }
        self.init(
            key: parts.joined(separator: "|"), name: values[.name], manufacturer: values[.manufacturer], model: values[.model],
            hardware: values[.hardware], firmware: values[.firmware], software: values[.software], udi: values[.udi])
    }

    /// Returns the text after `<<HKDevice: 0x…>`, or the whole text if it does not begin with that.
    static func withoutAddress<Text: Collection<UInt8>>(_ text: Text) -> Text.SubSequence {
        var index = text.startIndex
        for byte in "<<HKDevice: 0x".utf8 {
            guard index < text.endIndex, text[index] == byte else { return text[...] }
            text.formIndex(after: &index)
        }
        while index < text.endIndex, text[index] != UInt8(ascii: ">") {
            let digit = text[index] | 0x20
            guard (0x30...0x39).contains(digit) || (0x61...0x66).contains(digit) else { return text[...] }
            text.formIndex(after: &index)
        }
        guard index < text.endIndex else { return text[...] }
        return text[text.index(after: index)...]
    }

    private enum Field: String, CaseIterable {
        case name = ", name:"
        case manufacturer = ", manufacturer:"
        case model = ", model:"
        case hardware = ", hardware:"
        case firmware = ", firmware:"
        case software = ", software:"
        case localIdentifier = ", localIdentifier:"
        case udi = ", UDIDeviceIdentifier:"
        /// The time when the phone created the description. It is not a property of the device.
        case creationDate = ", creation date:"
    }

    private static func field(in bytes: [UInt8], at index: Int) -> (Field, end: Int)? {
        guard bytes[index] == UInt8(ascii: ",") else { return nil }
        for field in Field.allCases where bytes[index...].starts(with: field.rawValue.utf8) {
            return (field, index + field.rawValue.utf8.count)
        }
        return nil
    }
}
