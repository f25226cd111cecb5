import HealthModel

extension Device {
    /// Reads the text that HealthKit prints of a device:
    ///
    ///     <<HKDevice: 0x2803d9810>, name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:10.1>
    ///
    /// The number is an address in the phone's memory, another one in every export and often in every record; it is left out, or
    /// one phone would be as many devices as there are numbers. Values may hold commas and colons: a value ends where a comma, a
    /// blank, a known name and a colon follow.
    ///
    /// The key is made of maker, model, hardware and, where there is one, the local or the UDI identifier. Software and firmware
    /// change with updates and the name with its owner's mind; the name counts only where nothing else is known.
    ///
    /// - Returns: `nil` where the text says nothing.
    init?(healthKitDescription text: some Collection<UInt8>) {
        var bytes = Array(Self.withoutAddress(text[...]))
        guard bytes.count < text.count else {
            // Not HealthKit's form: kept whole.
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
        // What only says when or with which software leaves no device to tell from others.
        guard parts.contains(where: { !$0.isEmpty }) || values[.firmware] != nil || values[.software] != nil else { return nil }
        self.init(
            key: parts.joined(separator: "|"), name: values[.name], manufacturer: values[.manufacturer], model: values[.model],
            hardware: values[.hardware], firmware: values[.firmware], software: values[.software], udi: values[.udi])
    }

    /// The text behind `<<HKDevice: 0x…>`, or all of it where it does not begin so.
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
        /// When the phone made the description; says nothing about the device.
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
