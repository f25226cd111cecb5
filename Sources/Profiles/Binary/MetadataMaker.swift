import HealthModel

/// Makes the metadata of one rule's readings and caches the last result, because most frames of a device have the same metadata.
struct MetadataMaker {
    private let rules: BinaryChannel.MetadataRules
    private let plan: LayoutPlan
    /// The bits and the raw values of fields that the metadata depends on.
    private let mask: UInt64
    private let fields: [Int32]
    private var last: (word: UInt64, hasReserved: Bool)?
    private var lastValues: [Int64]
    private var lastMetadata: Metadata?
    private let isEmpty: Bool

    init(_ rules: BinaryChannel.MetadataRules, plan: LayoutPlan) {
        self.rules = rules
        self.plan = plan
        (mask, fields) = rules.dependencies
        lastValues = fields.map { _ in 0 }
        isEmpty = rules.rules.isEmpty
    }

    @inline(__always) mutating func metadata(
        _ word: UInt64, _ frame: borrowing DecodedFrame, _ record: Int32, _ deviceTime: DeviceDateTime?
    ) -> Metadata? {
        let isPlain = isEmpty && !frame.hasReserved && frame.cutOff == nil && deviceTime == nil
        return isPlain ? nil : remembered(word, frame, record, deviceTime)
    }

    private mutating func remembered(
        _ word: UInt64, _ frame: borrowing DecodedFrame, _ record: Int32, _ deviceTime: DeviceDateTime?
    ) -> Metadata? {
        if deviceTime != nil || frame.cutOff != nil { return make(word, frame, record, deviceTime) }
        var isSame = last.map { $0.word == word & mask && $0.hasReserved == frame.hasReserved } ?? false
        for (index, field) in fields.enumerated() {
            // An absent field counts as a value that none of these fields can have.
            let raw = frame.last(field, record: record)?.raw ?? .min
            if lastValues[index] != raw { isSame = false }
            lastValues[index] = raw
        }
        if isSame { return lastMetadata }
        last = (word & mask, frame.hasReserved)
        lastMetadata = make(word, frame, record, nil)
        return lastMetadata
    }

    private func make(_ word: UInt64, _ frame: borrowing DecodedFrame, _ record: Int32, _ deviceTime: DeviceDateTime?)
        -> Metadata?
    {
        var entries: [(String, MetadataValue)] = []
        for (key, value) in rules.rules {
            switch value {
            case .constant(let value): entries.append((key, value))
            case .flag(let condition): if condition.matches(word) { entries.append((key, .boolean(true))) }
            case .mapped(let shift, let width, let values):
                let bits = word >> UInt64(shift) & (width >= 64 ? .max : 1 << UInt64(width) - 1)
                if let value = values[Int64(bitPattern: bits)] { entries.append((key, value)) }
            case .names(let field):
                guard let entry = frame.last(field, record: record) else { break }
                let names = plan.fields[Int(field)].parts.filter { $0.bits.value(of: UInt64(bitPattern: entry.raw)) != 0 }
                if !names.isEmpty { entries.append((key, .string(names.map(\.name).joined(separator: ",")))) }
            case .number(let field):
                if let numeral = frame.last(field, record: record)?.numeral { entries.append((key, .number(numeral))) }
            }
        }
        if frame.hasReserved { entries.append(("reservedBits", .boolean(true))) }
        if let cutOff = frame.cutOff { entries.append(("cutOff", .string(cutOff.field))) }
        if let deviceTime { entries.append(("deviceTime", .string(deviceTime.description))) }
        return entries.isEmpty ? nil : Metadata(entries)
    }
}
