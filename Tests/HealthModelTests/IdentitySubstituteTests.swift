import HealthModel
import Testing

/// The ordinals that replace an untrusted timestamp are part of UUIDs and must not change. Computed by another program: FNV-1a, 64 bits.
@Suite struct IdentitySubstituteTests {
    @Test func vectors() {
        #expect(IdentitySubstitute.record(7).ordinal(0) == 1_319_590_833)
        #expect(IdentitySubstitute.record(7).ordinal(1) == 1_320_778_492)
        #expect(IdentitySubstitute.receipt(Instant(microseconds: 1_795_683_060_000_000)).ordinal(0) == 1_912_095_456)
        #expect(IdentitySubstitute.content(.max).ordinal(0) == 1_693_065_903)
        #expect(StableHash.hash("") == 0xCBF2_9CE4_8422_2325)
        #expect(StableHash.hash("a") == 0xAF63_DC4C_8601_EC8C)
    }
}
