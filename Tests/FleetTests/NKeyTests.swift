import CryptographyKit
import FleetProtocol
import Testing

@Suite struct NKeyTests {
    /// The example of nats.docs ("Generating NKeys and Configuring the Server"), which `nk` has printed.
    private static let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
    private static let known = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"

    @Test func aKnownKey() throws {
        let key = try #require(NKey(seedText: Self.seed))
        #expect(key.publicText == Self.known)
        #expect(key.seedText == Self.seed)
        #expect(NKey.publicKey(Self.known) == key.key.publicKey)
    }

    /// A wrong letter anywhere is noticed.
    @Test func damagedTexts() throws {
        for text in [Self.seed, Self.known] {
            for index in text.indices {
                let damaged = text.replacingCharacters(at: index, with: text[index] == "A" ? "B" : "A")
                #expect(NKey(seedText: damaged) == nil && NKey.publicKey(damaged) == nil, "\(damaged)")
            }
        }
        for text in ["", "U", Self.known + "A", Self.known.lowercased(), String(repeating: "A", count: 1000)] {
            #expect(NKey(seedText: text) == nil && NKey.publicKey(text) == nil)
        }
        #expect(NKey(seedText: Self.known) == nil && NKey.publicKey(Self.seed) == nil)
    }

    /// RFC 8032, section 7.1, test 2.
    @Test func aKnownSignature() throws {
        func bytes(_ text: String) -> [UInt8] {
            let digits = text.compactMap(\.hexDigitValue)
            return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        }
        let key = try #require(
            SigningKey(seed: bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")))
        #expect(key.publicKey == bytes("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"))
        let signature = bytes(
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        )
        #expect(key.signature(of: [0x72]) == signature)
        #expect(SigningKey.isValid(signature, of: [0x72], by: key.publicKey))
        #expect(!SigningKey.isValid(signature, of: [0x73], by: key.publicKey))
        #expect(!SigningKey.isValid([], of: [0x72], by: key.publicKey) && !SigningKey.isValid(signature, of: [0x72], by: []))
    }

    @Test func codes() throws {
        let code = try #require(EnrollmentCode.random())
        #expect(code.text.wholeMatch(of: #/([A-Z2-7]{5}-){3}[A-Z2-7]{5}/#) != nil)
        let typed = try #require(EnrollmentCode(" " + code.text.lowercased().replacing("-", with: " ")))
        #expect(typed.text == code.text && typed.key.publicText == code.key.publicText)
        #expect(try #require(EnrollmentCode.random()).text != code.text)
        for text in ["", "AAAAA", "AAAAA-AAAAA-AAAAA-AAAA1", "AAAAA-AAAAA-AAAAA-AAAAA-A"] { #expect(EnrollmentCode(text) == nil) }
    }

    /// A request to join is valid only as the code's owner wrote it.
    @Test func joinRequests() throws {
        let (code, other) = (try #require(EnrollmentCode.random()), try #require(EnrollmentCode.random()))
        let request = JoinRequest(store: "abc-1", key: Self.known)
        let bytes = request.bytes(signedWith: code)
        #expect(try JoinRequest(bytes: bytes, codeKey: code.key.publicText) == request)
        #expect(throws: BlockFault.self) { try JoinRequest(bytes: bytes, codeKey: other.key.publicText) }
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1
            #expect(throws: BlockFault.self) { try JoinRequest(bytes: damaged, codeKey: code.key.publicText) }
            #expect(throws: BlockFault.self) { try JoinRequest(bytes: Array(bytes[..<index]), codeKey: code.key.publicText) }
        }
        #expect(throws: BlockFault.self) {
            try JoinRequest(
                bytes: JoinRequest(store: "a.b", key: Self.known).bytes(signedWith: code), codeKey: code.key.publicText)
        }
    }

    /// Orders of a center run only commands and options that it may use.
    @Test func orders() {
        func rejectionReason(_ kind: String, _ arguments: String...) -> String? {
            FleetOrder(number: 1, kind: kind, arguments: arguments).rejectionReason
        }
        #expect(rejectionReason("adopt", "C0:01:02:03:04:01", "--profile", "heart-rate") == nil)
        #expect(rejectionReason("verify", "--dry-run") == nil)
        #expect(rejectionReason("verify", "--dry-run=yes") == nil)
        #expect(rejectionReason("set", "locale=de-AT", "retention.heartRate=90d", "hub.commitEvery=10") == nil)
        for wrong in [
            rejectionReason("shell", "ls"), rejectionReason("erase", "me", "--without", "center"),
            rejectionReason("repair", "--store", "/tmp/x"),
            rejectionReason("repair", "--config=/tmp/x"), rejectionReason("assign", "scale", "--consent", "-"),
            rejectionReason("adopt", "a\0b"),
            rejectionReason("set"), rejectionReason("set", "locale"), rejectionReason("set", "locale=de-AT", "store=/tmp/x"),
            rejectionReason("set", "api.plain=true"),
            rejectionReason("set", "hub.inbox=/tmp"), rejectionReason("set", "targets.center.commandKey=U"),
            rejectionReason("set", "hub.commitEvery=1e9"),
            rejectionReason("set", "retention=90d"), rejectionReason("set", "retention.a.b=90d"),
            rejectionReason("set", "retention.=90d"),
            rejectionReason("set", "locale="), rejectionReason("set", "locale=a\nb"), rejectionReason("set", "--locale=de-AT"),
            rejectionReason("adopt", "a", "-"), rejectionReason("adopt", String(repeating: "a", count: 9000)),
        ] { #expect(wrong != nil) }
    }

    /// A signature is valid for one hub of one fleet, and for one order.
    @Test func orderSignatures() throws {
        let (key, other) = (try #require(NKey.random()).key, try #require(NKey.random()).key)
        let (study, clinic) = (try #require(FleetSubject(fleet: "study")), try #require(FleetSubject(fleet: "clinic")))
        var order = FleetOrder(number: 7, kind: "repair", arguments: ["--type", "heartRate"])
        #expect(!order.isSigned(by: key.publicKey, for: "a", of: study))
        order.sign(with: key, for: "a", of: study)
        #expect(order.isSigned(by: key.publicKey, for: "a", of: study))
        // It survives the way to the hub.
        guard case .orders(let arrived)? = FleetReply(bytes: FleetReply.orders([order]).bytes) else {
            Issue.record("it is another reply")
            return
        }
        #expect(arrived == [order] && arrived[0].isSigned(by: key.publicKey, for: "a", of: study))
        #expect(!order.isSigned(by: other.publicKey, for: "a", of: study))
        #expect(!order.isSigned(by: key.publicKey, for: "b", of: study))
        #expect(!order.isSigned(by: key.publicKey, for: "a", of: clinic))
        var changed = [FleetOrder](repeating: order, count: 7)
        changed[0].number = 8
        changed[1].kind = "erase"
        changed[2].arguments = ["--type", "bodyMass"]
        changed[3].arguments = ["--typeheart", "Rate"]
        changed[4].arguments = ["--type", "heartRate", ""]
        changed[5].signature = order.signature.map { ($0.hasPrefix("A") ? "B" : "A") + $0.dropFirst() }
        changed[6].signature = ""
        for order in changed { #expect(!order.isSigned(by: key.publicKey, for: "a", of: study), "\(order)") }
    }

    /// A key for commands is proven with the code.
    @Test func proofsOfCommandKeys() throws {
        let (study, clinic) = (try #require(FleetSubject(fleet: "study")), try #require(FleetSubject(fleet: "clinic")))
        let code = try #require(EnrollmentCode("KQ3ZD-7MFPA-XEW2B-CRN5T"))
        let proof = code.proof(of: Self.known, study)
        #expect(try #require(EnrollmentCode("kq3zd7mfpaxew2bcrn5t")).proof(of: Self.known, study) == proof)
        #expect(code.proof(of: Self.known, clinic) != proof)
        #expect(code.proof(of: try #require(NKey.random()).publicText, study) != proof)
        #expect(try #require(EnrollmentCode.random()).proof(of: Self.known, study) != proof)
        let reply = JoinReply(name: "ward", commandKey: Self.known, proof: proof)
        guard case .joined(let arrived)? = FleetReply(bytes: FleetReply.joined(reply).bytes) else {
            Issue.record("it is another reply")
            return
        }
        #expect(arrived == reply)
    }

    @Test func reportsAreBounded() throws {
        func request(_ report: HubReport) throws -> FleetRequest {
            try FleetRequest(bytes: FleetRequest(target: "center", me: "me", task: .report(report)).bytes)
        }
        let report = HubReport(
            version: "0.1.0", lastChange: 7, waiting: 2, quarantined: 1, order: 3, result: OrderResult(code: 0, output: "{}"))
        guard case .report(let same) = try request(report).task else {
            Issue.record("it is another task")
            return
        }
        #expect(same == report)
        var wrong = [HubReport](repeating: report, count: 9)
        wrong[0].version = String(repeating: "1", count: 65)
        wrong[1].waiting = -1
        wrong[2].result?.output = String(repeating: "1", count: 4097)
        wrong[3].order = -1
        wrong[4].refused = -1
        wrong[5].lowestBattery = 101
        wrong[6].silentDevices = -1
        wrong[7].machine = HubReport.Machine(id: "1", name: String(repeating: "1", count: 5000))
        wrong[8].restored = -1
        for report in wrong { #expect(throws: BlockFault.self) { try request(report) } }
    }
}

extension String {
    func replacingCharacters(at index: Index, with character: Character) -> String {
        String(self[..<index]) + String(character) + String(self[self.index(after: index)...])
    }
}
