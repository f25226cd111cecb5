import HealthModel

/// The key of a backup: twelve words with 128 random bits and a checksum, as BIP 39 forms them.
///
///     let key = BackupKey.random()
///     print(key.words)            // "legal winner thank year wave sausage worth useful legal winner thank yellow"
///
/// restic's password is the words with one space between them. So the backup can be read without Vitalgate.
package struct BackupKey: Hashable, Sendable {
    /// The words, with one space between them.
    package let words: String

    package static let count = 12

    /// The key of 16 bytes.
    init(entropy: [UInt8]) {
        // 128 bits and 4 bits of the digest are 12 numbers of 11 bits.
        let bytes = entropy + [Digest.sha256(entropy)[0]]
        words = (0..<Self.count).map { index in
            var number = 0
            for bit in (index * 11)..<(index * 11 + 11) { number = number << 1 | Int(bytes[bit / 8] >> (7 - bit % 8) & 1) }
            return KeyWords.all[number]
        }.joined(separator: " ")
    }

    /// A new key of the system's random numbers.
    package static func random() -> BackupKey {
        var generator = SystemRandomNumberGenerator()
        return BackupKey(entropy: (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// A fault in words that a person typed.
    package struct Fault: Error, Hashable, CustomStringConvertible {
        /// The fault, for the user, without any of the words.
        package let description: String
    }

    /// Reads words that a person typed. Upper case, other separators and words of only four letters are accepted.
    ///
    /// - Throws: ``Fault``, which names the number of the word, and not the word.
    package init(typed text: String) throws(Fault) {
        let typed = text.lowercased().split { !$0.isLetter }.map(String.init)
        guard typed.count == Self.count else { throw Fault(description: "a key has \(Self.count) words, not \(typed.count)") }
        var numbers: [Int] = []
        for (index, word) in typed.enumerated() {
            let found = KeyWords.all.firstIndex(of: word) ?? KeyWords.all.firstIndex { word.count == 4 && $0.hasPrefix(word) }
            guard let found else { throw Fault(description: "word \(index + 1) is not a word of a key") }
            numbers.append(found)
        }
        var bytes = [UInt8](repeating: 0, count: 17)
        for (index, number) in numbers.enumerated() {
            for bit in 0..<11 where number >> (10 - bit) & 1 == 1 {
                bytes[(index * 11 + bit) / 8] |= 0x80 >> ((index * 11 + bit) % 8)
            }
        }
        let entropy = Array(bytes[..<16])
        guard bytes[16] >> 4 == Digest.sha256(entropy)[0] >> 4 else {
            throw Fault(description: "two words are mixed up, or one is another word of the list: compare them with the paper")
        }
        self.init(entropy: entropy)
    }
}
