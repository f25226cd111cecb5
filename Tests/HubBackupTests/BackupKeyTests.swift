import Testing

@testable import HubBackup

/// The words of keys, and how they are typed again.
@Suite struct BackupKeyTests {
    /// Vectors of the specification: <https://github.com/trezor/python-mnemonic/blob/master/vectors.json> (license MIT).
    @Test(arguments: [
        (
            [UInt8](repeating: 0, count: 16),
            "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
        ),
        ([UInt8](repeating: 0x7F, count: 16), "legal winner thank year wave sausage worth useful legal winner thank yellow"),
        ([UInt8](repeating: 0x80, count: 16), "letter advice cage absurd amount doctor acoustic avoid letter advice cage above"),
        ([UInt8](repeating: 0xFF, count: 16), "zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong"),
    ])
    func vectors(_ entropy: [UInt8], _ words: String) throws {
        let key = BackupKey(entropy: entropy)
        #expect(key.words == words)
        #expect(try BackupKey(typed: words) == key)
    }

    @Test func typedWithFewerLettersAndOtherSeparators() throws {
        let key = BackupKey(entropy: [UInt8](repeating: 0x7F, count: 16))
        #expect(try BackupKey(typed: "LEGA-winn, than\nyear wave saus wort usef lega winn than yell") == key)
    }

    @Test func namesTheMisspelledWord() throws {
        func fault(_ text: String) -> String? {
            do throws(BackupKey.Fault) {
                _ = try BackupKey(typed: text)
                return nil
            } catch {
                return error.description
            }
        }
        #expect(fault("legal winner") == "a key has 12 words, not 2")
        #expect(fault("legal winner thank year wave sausage worth useful legal winner thank yello")?.hasPrefix("word 12") == true)
        // Two words that were swapped.
        #expect(
            fault("winner legal thank year wave sausage worth useful legal winner thank yellow")?.contains("mixed up") == true)
    }

    @Test func noTwoAreAlike() { #expect(BackupKey.random() != BackupKey.random()) }
}
