import HealthModel

/// The layout of an Omron cuff's EEPROM, which differs between models.
package struct CuffMemory: Hashable, Sendable {
    package enum Form: String, Hashable, Sendable, CaseIterable {
        /// 14 bytes, the highest bit first (HEM-7322T, HEM-7600T).
        case big
        /// 16 bytes in reverse order (HEM-7361T).
        case little
    }

    /// Two bytes before each frame that identify the model, such as 73 22.
    package var mark: [UInt8]
    package var form: Form
    /// The address of each user's records.
    package var users: [UInt16]
    /// The number of records for each user.
    package var records: Int
    /// The number of bytes in one read, at most 56.
    package var block: Int
    /// The address of eight bytes with the index of the last written record. If nil, everything is read each time.
    package var index: UInt16?
    /// The address of month, year, hour, day, second and minute, or nil if it is not known.
    package var clock: UInt16?

    package init(
        mark: [UInt8], form: Form, users: [UInt16], records: Int, block: Int, index: UInt16? = nil, clock: UInt16? = nil
    ) {
        self.mark = mark
        (self.form, self.users, self.records, self.block, self.index, self.clock) = (form, users, records, block, index, clock)
    }

    static let clockSize = 6

    /// Parses `month, year since 2000, hour, day, second, minute`. Returns nil if that is not a valid time.
    static func clock(_ bytes: [UInt8]) -> WallTime? {
        guard bytes.count == clockSize else { return nil }
        let year = 2000 + Int(bytes[1])
        let date: [UInt8] = [UInt8(year & 0xFF), UInt8(year >> 8), bytes[0], bytes[3], bytes[2], bytes[5], bytes[4]]
        return DeviceTime.read(date, layout: .dateTime)
    }
}

extension CuffMemory.Form {
    /// The size of a record in bytes.
    var size: Int { self == .big ? 14 : 16 }

    /// Returns the record as `systolic u16, diastolic u16, pulse u16, state u8, date and time 7`, for both packings.
    ///
    ///     big, highest bit first:         0 diastolic 8 · systolic - 25, 8 · year 8 · pulse 8 · moved · irregular · month 4 · day 5 ·
    ///                                     hour 5 · 52 minute 6 · second 6
    ///     little, bytes reversed:         68 minute 6 · second 6 · moved · irregular · month 4 · day 5 · hour 5 · 98 year 6 · pulse 8 ·
    ///                                     diastolic 8 · systolic - 25, 8
    func decodedRecord(_ record: [UInt8]) -> [UInt8] {
        let bytes = self == .big ? record : record.reversed()
        func bits(_ range: ClosedRange<Int>) -> Int {
            range.reduce(0) { $0 << 1 | Int(bytes[$1 / 8] >> UInt8(7 - $1 % 8) & 1) }
        }
        let isBig = self == .big
        let systolic = bits(isBig ? 8...15 : 120...127) + 25
        let diastolic = bits(isBig ? 0...7 : 112...119)
        let pulse = bits(isBig ? 24...31 : 104...111)
        let state = bits(isBig ? 32...32 : 80...80) | bits(isBig ? 33...33 : 81...81) << 1
        let year = 2000 + bits(isBig ? 16...23 : 98...103)
        let month = bits(isBig ? 34...37 : 82...85)
        let day = bits(isBig ? 38...42 : 86...90)
        let hour = bits(isBig ? 43...47 : 91...95)
        let minute = bits(isBig ? 52...57 : 68...73)
        // Seconds up to 63 were observed.
        let second = min(bits(isBig ? 58...63 : 74...79), 59)
        let values = [systolic, diastolic, pulse].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let date = [year & 0xFF, year >> 8, month, day, hour, minute, second].map { UInt8($0) }
        return values + [UInt8(state)] + date
    }
}
