import HealthModel
import PipelineTesting
import Testing

@testable import FleetProtocol

/// Sealed requests and replies: only the collectors of the fleet and the hub that has sent the request can open them.
@Suite struct SealingTests {
    private let study: FleetSubject
    private let collectors: SealingKey
    private let hub: NKey

    init() throws {
        study = try #require(FleetSubject(fleet: "study"))
        collectors = try #require(SealingKey.random())
        hub = try #require(NKey.random())
    }

    private func bytes(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private func sealer(
        _ store: String = "store-1", key: NKey? = nil, for collectors: SealingKey? = nil
    ) throws -> RequestSealer {
        try #require(
            RequestSealer(
                collectorsKey: (collectors ?? self.collectors).publicText, key: key ?? hub, store: store, fleet: study))
    }

    private func opener(_ keys: [SealingKey]? = nil, isRequired: Bool = false) -> RequestOpener {
        RequestOpener(keys ?? [collectors], isRequired: isRequired, fleet: study)
    }

    /// The example of nats-server's tests (server/auth_callout_test.go).
    @Test func aKnownKey() throws {
        let seed = "SXAAXMRAEP6JWWHNB6IKFL554IE6LZVT6EY5MBRICPILTLOPHAG73I3YX4"
        let known = "XAB3NANV3M6N7AHSQP2U5FRWKKUT7EG2ZXXABV4XVXYQRJGM4S2CZGHT"
        let key = try #require(SealingKey(seedText: seed))
        #expect(key.publicText == known && key.seedText == seed)
        #expect(SealingKey.publicKey(known) == key.key.publicKey)
        for text in [seed, known] {
            for index in text.indices {
                let damaged = text.replacingCharacters(at: index, with: text[index] == "A" ? "B" : "A")
                #expect(SealingKey(seedText: damaged) == nil && SealingKey.publicKey(damaged) == nil, "\(damaged)")
            }
        }
        // A key that signs is not one that seals.
        #expect(SealingKey(seedText: hub.seedText) == nil && SealingKey.publicKey(hub.publicText) == nil)
        #expect(NKey(seedText: seed) == nil && NKey.publicKey(known) == nil)
    }

    /// A request and a reply that `sealing.py` has sealed with other libraries.
    @Test func messagesOfAnotherProgram() throws {
        let key = try #require(SealingKey(seedText: KeyText.curve.seedText(Array(1...32))))
        let hub = try #require(NKey(seed: Array(65...96)))
        let request = bytes(
            """
            02aaa8fff703b50b225869aff450549732cbaaed5e5df9b30a6da31cb0e5742bad5ad4a1a768f1a67badc14011f82d1c56d956aa4f9d73d8858361a606048525
            e0d08c638dc75dd8c76465666768696a6b6c6d6e6f707172737475767778797a7bf139646270f1bb98ebf7f72ae8336a0ebf4d7da3adb4a90a3d58b2fa419bf4
            c2e14d5e9872
            """)
        let opened = try opener([key]).opened(request, from: "store-1")
        #expect(String(decoding: opened.bytes, as: UTF8.self) == "a request of this hub")
        #expect(opened.sender == .hub(hub.publicText))
        let reply = bytes(
            "0282838485868788898a8b8c8d8e8f90919293949596979899640fae10bf5be4bd0b00659a81f21962c604dc42e8271141663e2173b2f71c")
        #expect(opened.reply?.opened(reply).map { String(decoding: $0, as: UTF8.self) } == "the reply to it")
    }

    @Test func requestAndReplyRoundTrip() throws {
        for length in [0, 1, 1000, 1_000_000] {
            let request = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            let sealed = try #require(try sealer().sealed(request))
            let opened = try opener().opened(sealed.bytes, from: "store-1")
            #expect(opened.bytes == request && opened.sender == .hub(hub.publicText))
            let reply = try #require(opened.reply?.sealed(request))
            #expect(sealed.reply.opened(reply) == request)
            // The same content looks different each time.
            #expect(try #require(try sealer().sealed(request)).bytes.dropFirst(9) != sealed.bytes.dropFirst(9))
            #expect(opened.reply?.sealed(request) != reply)
        }
        // A hub without an NKey.
        let unnamed = try #require(
            RequestSealer(collectorsKey: collectors.publicText, key: nil, store: "s", fleet: study)?.sealed([7]))
        #expect(try opener().opened(unnamed.bytes, from: "s").sender == .unnamed)
    }

    /// A cut, a changed bit, or added bytes lead to one clear error.
    @Test func damagedMessages() throws {
        let sealed = try #require(try sealer().sealed(Array("{\"heartRate\":61}".utf8)))
        let opener = opener()
        let reply = try #require(try opener.opened(sealed.bytes, from: "store-1").reply?.sealed([1, 2, 3]))
        for count in 1..<sealed.bytes.count {
            #expect(throws: SealFault.damaged) { try opener.opened(Array(sealed.bytes[..<count]), from: "store-1") }
        }
        for count in reply.indices { #expect(sealed.reply.opened(Array(reply[..<count])) == nil) }
        for bit in 8..<sealed.bytes.count * 8 {
            var damaged = sealed.bytes
            damaged[bit / 8] ^= 1 << (bit % 8)
            // The highest bit of a coordinate has no meaning in X25519, but the keys are derived from it.
            #expect(throws: bit < 72 ? SealFault.otherKey : .damaged, "bit \(bit)") {
                try opener.opened(damaged, from: "store-1")
            }
        }
        for bit in 0..<reply.count * 8 {
            var damaged = reply
            damaged[bit / 8] ^= 1 << (bit % 8)
            #expect(sealed.reply.opened(damaged) == nil)
        }
        #expect(throws: SealFault.damaged) { try opener.opened(sealed.bytes + [0], from: "store-1") }
        #expect(sealed.reply.opened(reply + [0]) == nil)
        // Random bytes after the first one.
        var random = SeededGenerator(seed: 1)
        for length in 0..<200 {
            let bytes = [2] + (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(throws: SealFault.self) { try opener.opened(bytes, from: "store-1") }
        }
        // A one-time key that would lead to a known secret.
        for point in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)] {
            var damaged = sealed.bytes
            damaged.replaceSubrange(9..<41, with: point)
            #expect(throws: SealFault.damaged) { try opener.opened(damaged, from: "store-1") }
        }
    }

    /// A request is valid only for the store, the fleet, and the key for which it was sealed, and a reply only for its request.
    @Test func messagesOfOthers() throws {
        let sealed = try #require(try sealer().sealed([1, 2, 3]))
        #expect(throws: SealFault.damaged) { try opener().opened(sealed.bytes, from: "store-2") }
        let clinic = try #require(FleetSubject(fleet: "clinic"))
        #expect(throws: SealFault.damaged) {
            try RequestOpener([collectors], fleet: clinic).opened(sealed.bytes, from: "store-1")
        }
        let (older, other) = (try #require(SealingKey.random()), try #require(SealingKey.random()))
        #expect(throws: SealFault.otherKey) { try opener([other]).opened(sealed.bytes, from: "store-1") }
        #expect(throws: SealFault.noKey) { try opener([]).opened(sealed.bytes, from: "store-1") }
        // A collector opens requests for its current and for an older key.
        let both = opener([collectors, older])
        #expect(try both.opened(sealed.bytes, from: "store-1").bytes == [1, 2, 3])
        let old = try #require(try sealer(for: older).sealed([4]))
        #expect(try both.opened(old.bytes, from: "store-1").bytes == [4])
        // Another hub cannot claim to be this one, although both have the collectors' key.
        let otherHub = try #require(NKey.random())
        let foreign = try #require(try sealer(key: otherHub).sealed([5]))
        var claimed = foreign.bytes
        claimed.replaceSubrange(41..<73, with: hub.key.publicKey)
        #expect(throws: SealFault.damaged) { try both.opened(claimed, from: "store-1") }
        // A reply to another request of the same hub, and a request that comes back as its own reply.
        let next = try #require(try sealer().sealed([1, 2, 3]))
        let reply = try #require(try opener().opened(next.bytes, from: "store-1").reply?.sealed([9]))
        #expect(next.reply.opened(reply) == [9] && sealed.reply.opened(reply) == nil)
        #expect(sealed.reply.opened(sealed.bytes) == nil && sealed.reply.opened([2] + sealed.bytes.dropFirst(73)) == nil)
    }

    @Test func requestsWithoutASeal() throws {
        let opened = try opener().opened([1, 5], from: "store-1")
        #expect(opened.bytes == [1, 5] && opened.sender == .unsealed && opened.reply == nil)
        #expect(throws: SealFault.unsealed) { try opener(isRequired: true).opened([1, 5], from: "store-1") }
        #expect(throws: SealFault.unsealed) { try opener(isRequired: true).opened([], from: "store-1") }
    }

    /// The reply to a hub that joins hides its name, and its keys come from the person who made the code.
    @Test func repliesToHubsThatJoin() throws {
        let (code, other) = (
            try #require(EnrollmentCode.random(forSealing: true)), try #require(EnrollmentCode.random(forSealing: true))
        )
        #expect(code.isForSealing && code.text.wholeMatch(of: #/([A-Z2-7]{5}-){4}S/#) != nil)
        #expect(try #require(EnrollmentCode(code.text.lowercased())).key.publicText == code.key.publicText)
        // Without its mark it is another code, so that no hub joins without a seal by mistake.
        let plain = try #require(EnrollmentCode(String(code.text.dropLast(2))))
        #expect(!plain.isForSealing && plain.key.publicText != code.key.publicText)
        var joined = JoinReply(name: "ward-3")
        (joined.sealingKey, joined.sealingProof) = (collectors.publicText, code.proof(of: collectors.publicText, study))
        joined.hubKey = hub.publicText
        let sealed = FleetReply.joined(joined).bytes(forCode: code.key.publicText, study)
        #expect(!String(decoding: sealed, as: UTF8.self).contains("ward-3"))
        guard case .joined(let read) = FleetReply(bytes: sealed, forCode: code, study) else {
            Issue.record("it cannot be read")
            return
        }
        #expect(
            read == joined && read.isGenuine(code, study, hubKey: hub.publicText)
                && !read.isGenuine(other, study, hubKey: hub.publicText))
        #expect(FleetReply(bytes: sealed, forCode: other, study) == nil)
        for index in sealed.indices {
            var damaged = sealed
            damaged[index] ^= 1
            #expect(FleetReply(bytes: damaged, forCode: code, study) == nil)
            #expect(FleetReply(bytes: Array(sealed[..<index]), forCode: code, study) == nil)
        }
        // A broker can neither replace nor remove the key.
        #expect(FleetReply(bytes: FleetReply.joined(joined).bytes, forCode: code, study) == nil)
        // The center has to know the hub by its own key.
        let otherKey = try #require(NKey.random()).publicText
        #expect(!joined.isGenuine(code, study, hubKey: otherKey))
        var forged = joined
        forged.sealingKey = try #require(SealingKey.random()).publicText
        #expect(!forged.isGenuine(code, study, hubKey: hub.publicText))
        #expect(
            !JoinReply(name: "ward-3").isGenuine(code, study, hubKey: hub.publicText)
                && JoinReply(name: "ward-3").isGenuine(plain, study, hubKey: hub.publicText))
        forged.sealingKey = hub.publicText
        forged.sealingProof = code.proof(of: hub.publicText, study)
        #expect(!forged.isGenuine(code, study, hubKey: hub.publicText))
    }
}
