import HealthModel
import Testing

/// The first digits of a UUID.
@Suite struct IdentityPrefixTests {
    private let whole = "0199f2c4-8600-8000-8000-0123456789ab"

    @Test func everyPrefixMatches() throws {
        let uuid = try #require(SampleIdentity(whole))
        let start = Int64(uuid.milliseconds) * 1000
        let plain = whole.filter { $0 != "-" }
        for text in [whole, plain] {
            for count in 1...text.count {
                let prefix = IdentityPrefix(text.prefix(count))
                let digits = text.prefix(count).filter { $0 != "-" }.count
                #expect((prefix != nil) == (4..<32).contains(digits), "\(text.prefix(count))")
                guard let prefix else { continue }
                #expect(prefix.matches(uuid))
                #expect(prefix.nominalStarts.contains(start) && prefix.nominalStarts.contains(start + 999))
            }
        }
        #expect(IdentityPrefix("0199F2C4")?.matches(uuid) == true)
        #expect(IdentityPrefix("0199f2c5")?.matches(uuid) == false)
        #expect(IdentityPrefix(whole.dropLast(2) + "b")?.matches(uuid) == false)
    }

    @Test func prefixGivesRangeOfStarts() {
        let millisecond: ClosedRange<Int64> = 0x0199_f2c4_8600 * 1000...0x0199_f2c4_8600 * 1000 + 999
        #expect(IdentityPrefix("0199f2c48600")?.nominalStarts == millisecond)
        let days: ClosedRange<Int64> = 0x0199_0000_0000 * 1000...0x0199_ffff_ffff * 1000 + 999
        #expect(IdentityPrefix("0199")?.nominalStarts == days)
    }

    @Test(arguments: [
        "", "019", "heartRate", "0199-f2c4", "0199f2c48600-8000", "0199f2c4-8600-8000-8000-0123456789abc", "0199f2cg",
    ])
    func noPrefix(text: String) { #expect(IdentityPrefix(text) == nil) }
}
