import HealthModel
import Pipeline
import Testing

@testable import Profiles

/// Only a device's own profile reads its frames. A frame that another profile accepts would be a reading that was never measured.
@Suite struct ForeignFrameTests {
    /// A set of frames and a profile that is not its own and takes some of them, and why that does no harm.
    private static let allowed: [String: String] = [
        "inkbird-unknown-18-byte-model inkbird-ibs-p02b":
            "the IBS-P02B's octets in a test without its name, which the profile asks for",
        "blescalesync-qn-scale digoo-dg-so38h": "QN's octets in a test without its name, which the profile asks for",
        "theengs-bluecharm-ksensor kkm-beacon": "KKM's own frame, sold by another maker: temperature as that test reads it",
        "blescalesync-beurer-bf720-bf105 sig-body-composition": "the SIG's characteristic, read as the SIG says",
        "blescalesync-standard-gatt-bcs-wss sig-body-composition": "the SIG's characteristic, read as the SIG says",
    ]

    /// Every vector's frame through every profile that its advert, characteristic or name may match.
    @Test func noFrameIsTakenByAnotherDevicesProfile() {
        var matched: Set<String> = []
        for vector in DeviceVector.all {
            let own = DeviceVector.sets[vector.set]?.profiles ?? []
            for profile in shippedLibrary.profiles where !own.contains(profile.id) {
                let names = profile.match.names + profile.match.wholeNames
                // A name that is known and does not fit keeps a profile away.
                if let name = vector.name, !name.isEmpty, !names.isEmpty, !profile.match.fits(name: name) { continue }
                guard let (match, bytes) = vector.frame(of: profile) else { continue }
                let values = DeviceVectorTests.values(match, bytes, vector.secrets)
                guard !values.isEmpty else { continue }
                let key = "\(vector.set) \(profile.id)"
                matched.insert(key)
                #expect(Self.allowed[key] != nil, "\(profile.id) takes \(vector.testDescription): \(values)")
            }
        }
        #expect(Set(Self.allowed.keys).subtracting(matched).isEmpty)
    }

    /// Also the vectors of every profile, if no name excludes the other profile.
    @Test func noProfilesVectorIsTakenByAnother() throws {
        for profile in shippedLibrary.profiles {
            for vector in profile.frameVectors where vector.refused == nil {
                for match in shippedLibrary.matches(channel: vector.channel) where match.profile.id != profile.id {
                    let other = match.profile
                    let isNamed = !(other.match.names + other.match.wholeNames).isEmpty
                    if isNamed, !(profile.match.names + profile.match.wholeNames).contains(where: other.match.fits) { continue }
                    let values = DeviceVectorTests.values(match, vector.bytes, vector.options.secrets)
                    #expect(values.isEmpty, "\(other.id) takes what \(profile.id) reads: \(vector.channel) \(values)")
                }
            }
        }
    }

    /// Every profile has vectors of rows or frames, which the tests of prefixes and random frames start from.
    @Test func everyReadingChannelHasVectors() {
        for profile in shippedLibrary.profiles {
            #expect(!profile.frameVectors.isEmpty || !profile.vectors.isEmpty, "\(profile.id)")
        }
    }

    /// A truncated vector of a profile is another form with its own length, or contains nothing that differs from the complete frame.
    @Test(arguments: shippedLibrary.profiles.filter { !$0.frameVectors.isEmpty }.map(\.id))
    func prefixesOfOwnVectorsContainLess(id: String) throws {
        let profile = try #require(shippedLibrary[id])
        for vector in profile.frameVectors where vector.refused == nil && !vector.channel.hasPrefix("serial:") {
            let match = try #require(profile.match(channel: vector.channel))
            let whole = DeviceVectorTests.values(match, vector.bytes, vector.options.secrets)
            let forms = match.channel.plan.sizes.reduce(into: Set<Int>()) { $0.formUnion($1) }
            for length in 0..<vector.bytes.count where !forms.contains(length) {
                let cut = DeviceVectorTests.values(match, Array(vector.bytes[..<length]), vector.options.secrets)
                let isLess = cut.allSatisfy { type, values in whole[type]?.starts(with: values) == true }
                #expect(isLess, "\(id) \(vector.channel) cut to \(length): \(cut)")
            }
        }
    }
}
