/// Counts the messages and fields of a FIT file that are not stored.
struct FITSkips {
    /// Message counts. Records, sessions and laps are also counted by field.
    private var messages: [UInt16: Int] = [:]
    private var fields: [UInt16: [Int]] = [:]
    /// Developer fields by app and number.
    private var developers: [UInt16: Int] = [:]
    private var names: [UInt16: [UInt8]] = [:]

    private typealias Message = FITProfile.Message

    /// Fields that are stored, or that only describe the file's structure.
    private static let known: [UInt16: Set<UInt8>] = [
        Message.record: [FITProfile.timestamp, 0, 1, 2, 3, 4, 6, 7, 53, 73, 78],
        Message.session: [FITProfile.timestamp, 254, 0, 1, 2, 5, 6, 7, 8, 9, 11, 16, 17, 25, 26, 27, 28, 64],
        Message.lap: [FITProfile.timestamp, 254, 0, 1, 2, 7, 8, 9, 11, 15, 16, 24, 25, 26, 39, 63],
    ]

    /// Messages that are stored, or that describe other messages.
    private static let taken: Set<UInt16> = [
        Message.fileID, Message.session, Message.lap, Message.record, Message.activity, Message.sport, Message.fileCreator,
        Message.fieldDescription, Message.developerDataID,
    ]

    mutating func add(_ message: FITMessage) {
        let number = message.definition.message
        if number == Message.fieldDescription { describe(message) }
        let isUsed =
            number == Message.event || number == Message.deviceInfo ? message.unsigned(0) == 0 : false
        if !isUsed { messages[number, default: 0] += 1 }
        guard let known = Self.known[number] else { return }
        var counts = fields[number].take() ?? Array(repeating: 0, count: 256)
        message.forEachFieldWithValue { field in
            if !known.contains(field) { counts[Int(field)] += 1 }
        } developer: { field in
            developers[UInt16(field.index) << 8 | UInt16(field.number), default: 0] += 1
        }
        fields[number] = counts
    }

    private mutating func describe(_ message: FITMessage) {
        guard let index = message.unsigned(0), let number = message.unsigned(1), let name = message.text(3) else { return }
        names[UInt16(index & 0xFF) << 8 | UInt16(number & 0xFF)] = name
    }

    /// Whether the file contains such a message.
    func has(_ message: UInt16) -> Bool { messages[message] != nil }

    /// Returns names and counts, sorted by name.
    ///
    /// - Parameter isActivity: whether the file is read as an activity. If not, every message is counted.
    func counts(isActivity: Bool) -> [(name: String, count: Int)] {
        var counts: [String: Int] = [:]
        for (number, count) in messages where !isActivity || !Self.taken.contains(number) {
            counts[FITNames.message(number), default: 0] += count
        }
        guard isActivity else { return counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
        for (message, numbers) in fields {
            for (field, count) in numbers.enumerated() where count > 0 {
                counts[FITNames.field(UInt8(field), of: message), default: 0] += count
            }
        }
        for (field, count) in developers {
            let name = names[field].map { String(decoding: $0, as: UTF8.self) } ?? "field_\(field & 0xFF)"
            counts["developer." + name, default: 0] += count
        }
        return counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
