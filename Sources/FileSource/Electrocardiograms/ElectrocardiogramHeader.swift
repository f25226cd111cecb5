import HealthModel
import Pipeline

/// The header above the voltages: a key and a value per line. The file is written in the phone's language:
///
///     Name                                              Name                                            名前
///     Date of Birth,"Jan 8, 2002"                       Geburtstag,"27.03.1987"                         生年月日
///     Recorded Date,2026-05-30 16:32:18 -0700           Aufzeichnungsdatum,2020-07-31 22:48:19 +0200    記録日,…
///     Classification,Sinus Rhythm                       Klassifizierung,Sinusrhythmus                   分類,洞調律
///     Symptoms,                                         Symptome,                                       症状,
///     Software Version,1.90                             Softwareversion,1.13                            …
///     Device,"Watch7,12"                                Gerät,"Watch4,2"                                …
///     Sample Rate,512 hertz                             Messrate,"511,562 Hertz"                        サンプルレート,512ヘルツ
///
///     Lead,Lead I                                       Ableitung,Ableitung I
///     Unit,µV                                           Einheit,µV
///
///     150.141                                           -180,596
///
/// English keys are matched by name. Other lines are identified by their order, if the date, the rate and the unit are at their expected
/// positions. Those look alike in every language. Name and date of birth are ignored.
struct ElectrocardiogramHeader {
    struct Facts {
        var start: ExportTime.Moment
        var classification: String
        var symptoms: String
        var symptomsAreEnglish: Bool
        var version: String
        var device: String
        var frequency: Numeral
        var averageHeartRate: Numeral?
        var lead: String
        /// The UCUM code of the unit.
        var unit: String
    }

    private static let maximumRows = 64
    private var rows: [(key: String, value: String)] = []

    /// Adds a line.
    ///
    /// - Returns: `false` if there are more lines than in any header.
    mutating func append(_ line: ArraySlice<UInt8>) -> Bool {
        let text = line.drop { $0 <= 0x20 }
        guard !text.isEmpty else { return true }
        guard rows.count < Self.maximumRows else { return false }
        guard let comma = text.firstIndex(of: UInt8(ascii: ",")) else {
            rows.append((ExportText.cleaned(text), ""))
            return true
        }
        rows.append((ExportText.cleaned(text[..<comma]), Self.unquoted(ExportText.cleaned(text[(comma + 1)...]))))
        return true
    }

    /// Parses the lines.
    func read(at place: Place) throws(Refusal) -> Facts {
        guard let date = index("Recorded Date") ?? rows.firstIndex(where: { Self.moment($0.value) != nil }),
            let start = Self.moment(rows[date].value)
        else { throw Refusal("the electrocardiogram has no date that is written as YYYY-MM-DD HH:MM:SS +HHMM", at: place) }
        guard let rate = index("Sample Rate") ?? rows.firstIndex(where: { Self.frequency($0.value) != nil }),
            let frequency = Self.frequency(rows[rate].value)
        else { throw Refusal("the electrocardiogram has no sample rate in hertz", at: place) }
        guard let line = index("Unit") ?? (rows.isEmpty ? nil : rows.count - 1), let unit = Self.unit(rows[line].value) else {
            throw Refusal("the unit of the voltages is neither µV nor mV", at: place)
        }
        let isEnglish = index("Classification") != nil
        guard isEnglish || (rate == date + 5 && line == rate + 2) else {
            throw Refusal("the lines above the voltages are not those of an electrocardiogram", at: place)
        }
        func value(_ key: String, _ position: Int) -> String {
            if let index = index(key) { return rows[index].value }
            return isEnglish || position >= rows.count ? "" : rows[position].value
        }
        return Facts(
            start: start, classification: value("Classification", date + 1), symptoms: value("Symptoms", date + 2),
            symptomsAreEnglish: isEnglish, version: value("Software Version", date + 3), device: value("Device", date + 4),
            frequency: frequency,
            averageHeartRate: index("Average Heart Rate").flatMap { Self.number(rows[$0].value, of: ["bpm", "count/min"]) },
            lead: value("Lead", line - 1), unit: unit)
    }

    private func index(_ key: String) -> Int? { rows.firstIndex { $0.key == key } }

    /// Whether a line is a voltage: digits, signs, dots and commas.
    static func isNumber(_ line: ArraySlice<UInt8>) -> Bool {
        let text = trimmed(line)
        let isPart: (UInt8) -> Bool = { ($0 &- 0x30) < 10 || $0 == 0x2D || $0 == 0x2B || $0 == 0x2E || $0 == 0x2C }
        return !text.isEmpty && text.allSatisfy(isPart) && text.contains { ($0 &- 0x30) < 10 }
    }

    static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isInk: (UInt8) -> Bool = { $0 > 0x20 }
        guard let first = line.firstIndex(where: isInk), let last = line.lastIndex(where: isInk) else { return [] }
        return line[first...last]
    }

    private static func moment(_ text: String) -> ExportTime.Moment? {
        var time = ExportTime()
        return Array(text.utf8).withUnsafeBytes { try? time.read($0) }
    }

    /// Parses `512 hertz`, `512.000 Hz`, `512ヘルツ`, or `511,562 Hertz` with a no-break blank. A comma is a decimal separator, because no
    /// rate reaches the thousands.
    private static func frequency(_ text: String) -> Numeral? {
        guard let number = number(text, of: HertzNames.all), number.doubleValue > 0, number.doubleValue <= 100_000 else {
            return nil
        }
        return number
    }

    /// Parses a number before or after one of these units. The digits may be those of another script.
    private static func number(_ text: String, of units: Set<String>) -> Numeral? {
        var digits = ""
        var (before, after) = ("", "")
        for character in text.lowercased() where !isInvisible(character) {
            if let digit = character.wholeNumberValue, digit < 10,
                character.unicodeScalars.first?.properties.numericType == .decimal
            {
                digits += after + String(digit)
                after = ""
            } else if digits.isEmpty {
                before.append(character)
            } else {
                after.append(character)
            }
        }
        // A character between two digits is part of the number.
        let number = digits.map { character in
            switch character {
            case ",", "\u{66B}": "."
            default: String(character)
            }
        }.joined()
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }), number.utf8.allSatisfy({ ($0 &- 0x30) < 10 || $0 == 0x2E })
        else {
            return nil
        }
        let words = [before, after].map(trimmed).filter { !$0.isEmpty }
        guard words.count == 1, units.contains(words[0]) else { return nil }
        return try? Numeral(number)
    }

    /// Whether the character only marks the direction of writing.
    private static func isInvisible(_ character: Character) -> Bool {
        character.unicodeScalars.allSatisfy { [0x200E, 0x200F, 0x61C, 0x202A, 0x202B, 0x202C].contains($0.value) }
    }

    private static func trimmed(_ text: String) -> String {
        var text = text[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    /// Returns the UCUM code. The micro sign is U+00B5, the Greek letter U+03BC, or a u. The Russian units are those of GOST 8.417.
    private static func unit(_ text: String) -> String? {
        switch text {
        case "\u{B5}V", "\u{3BC}V", "uV", "мкВ": "uV"
        case "mV", "мВ": "mV"
        default: nil
        }
    }

    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return text }
        var result = ""
        var isQuote = false
        for character in text.dropFirst().dropLast() {
            if character == "\"", !isQuote {
                isQuote = true
                continue
            }
            isQuote = false
            result.append(character)
        }
        return result
    }
}
