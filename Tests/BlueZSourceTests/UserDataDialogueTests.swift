import PipelineTesting
import Testing

@testable import BlueZSource

/// Several users of one scale, each of whom consents.
@Suite struct UserDataDialogueTests {
    private static let point = UserDataDialogue.controlPoint
    private static let weight = CharacteristicName(0x181D, 0x2A9D)
    private static let all = Set([point, UserDataDialogue.increment, weight] + UserDataDialogue.fields)
    /// Users 1 and 2 of a scale.
    private static let users = [ConsentingUser(number: 1, code: 2520), ConsentingUser(number: 2, code: 1)]

    private func dialogue(_ users: [ConsentingUser] = users, available: Set<CharacteristicName> = all) -> UserDataDialogue {
        UserDataDialogue(users, available: available)
    }

    private func texts(_ commands: [DialogueCommand]) -> [String] { commands.map(DialogueProof.text) }

    /// The bytes of a capture of a Beurer BF788 and its app (ble-scale-sync, issue 229). `02 01 D8 09` is answered by `20 02 01`. Then the
    /// fields of the profile are read and written back unchanged, and the increment is written.
    @Test func matchesCaptureOfVendorApp() {
        var dialogue = dialogue([Self.users[0]])
        let time = DialogueProof.time
        #expect(texts(dialogue.handle(.start, at: time(0))) == ["2A9F<0201D809"])
        #expect(
            texts(dialogue.handle(.received(Self.point, [0x20, 0x02, 0x01]), at: time(1)))
                == ["ready", "2A85?", "2A8C?", "2A8E?", "FFF3?"])
        let fields = UserDataDialogue.fields
        #expect(texts(dialogue.handle(.read(fields[0], [0xC4, 0x07, 5, 6]), at: time(1))) == [])
        // Empty fields stay empty, and fields that cannot be read are not written.
        #expect(texts(dialogue.handle(.read(fields[1], []), at: time(1))) == [])
        #expect(texts(dialogue.handle(.refused(fields[3], .other), at: time(1))) == [])
        #expect(
            texts(dialogue.handle(.read(fields[2], [0xAF, 0]), at: time(1))) == ["2A85<C4070506", "2A8E<AF00", "2A99<01000000"])
        for name in [fields[0], fields[2], UserDataDialogue.increment] {
            #expect(dialogue.handle(.written(name), at: time(1)).isEmpty)
        }
        #expect(texts(dialogue.handle(.received(Self.weight, [0, 0x80, 0x3E]), at: time(2))) == ["2A9D!00803E"])
        #expect(dialogue.deadline == .seconds(1006))
        #expect(texts(dialogue.handle(.tick, at: time(5))) == [])
        #expect(texts(dialogue.handle(.tick, at: time(6))) == ["commit"])
        #expect(texts(dialogue.handle(.committed, at: time(6))) == [])
        #expect(dialogue.deadline == nil)
    }

    /// The second user is requested only after the first one's weighings are durable. After three rounds the dialogue rests.
    @Test func oneAfterTheOther() {
        var dialogue = dialogue()
        let time = DialogueProof.time
        var (now, codes, commits) = (0, [String](), 0)
        var commands = dialogue.handle(.start, at: time(0))
        for _ in 0..<200 {
            let sent = commands
            commands = []
            for command in sent {
                switch command {
                case .read(let name): commands += dialogue.handle(.read(name, [1]), at: time(now))
                case .write(let name, _) where name != Self.point: commands += dialogue.handle(.written(name), at: time(now))
                case .write(Self.point, let bytes):
                    #expect(commits == codes.count, "asked before what came is durable")
                    codes.append(DialogueProof.hex(bytes))
                    commands += dialogue.handle(.received(Self.point, [0x20, 0x02, 0x01]), at: time(now))
                    commands += dialogue.handle(.received(Self.weight, [UInt8(codes.count)]), at: time(now))
                case .commit:
                    commits += 1
                    commands += dialogue.handle(.committed, at: time(now))
                default: break
                }
            }
            now += 1
            commands += dialogue.handle(.tick, at: time(now))
        }
        #expect(codes == ["0201D809", "02020100", "0201D809", "02020100", "0201D809", "02020100"])
        #expect(commits == 6)
        #expect(dialogue.deadline == nil)
    }

    /// While the fields of one user are in transit, the other is not requested. Otherwise they would be written into the other's profile.
    @Test func doesNotMixFieldsOfUsers() {
        var dialogue = dialogue()
        let time = DialogueProof.time
        _ = dialogue.handle(.start, at: time(0))
        _ = dialogue.handle(.received(Self.point, [0x20, 0x02, 0x01]), at: time(1))
        for second in 2..<30 { #expect(dialogue.handle(.tick, at: time(second)).isEmpty) }
        for name in UserDataDialogue.fields.dropLast() { _ = dialogue.handle(.read(name, [1]), at: time(30)) }
        #expect(dialogue.handle(.tick, at: time(40)).isEmpty)
        #expect(dialogue.handle(.read(UserDataDialogue.fields[3], [2]), at: time(40)).count == 5)
        for second in 41..<60 { #expect(dialogue.handle(.tick, at: time(second)).isEmpty) }
        for name in UserDataDialogue.fields + [UserDataDialogue.increment] { _ = dialogue.handle(.written(name), at: time(60)) }
        var asked: [String] = []
        for second in 61..<70 { asked += texts(dialogue.handle(.tick, at: time(second))) }
        #expect(asked == ["2A9F<02020100"])
        // Late answers are ignored.
        #expect(dialogue.handle(.read(UserDataDialogue.fields[0], [9]), at: time(70)).isEmpty)
    }

    @Test func reportsRefusedConsent() {
        let time = DialogueProof.time
        var wrong = dialogue([Self.users[0]])
        _ = wrong.handle(.start, at: time(0))
        // The same capture, with another code.
        #expect(
            texts(wrong.handle(.received(Self.point, [0x20, 0x02, 0x05]), at: time(1))) == ["consentRefused(user: 1)", "ready"])
        // A repeated answer, or an answer to another request, is ignored.
        #expect(wrong.handle(.received(Self.point, [0x20, 0x02, 0x01]), at: time(1)).isEmpty)
        var silent = dialogue()
        _ = silent.handle(.start, at: time(0))
        #expect(silent.handle(.received(Self.point, [0x20, 0x01, 0x01, 3]), at: time(1)).isEmpty)
        #expect(texts(silent.handle(.tick, at: time(10))) == ["consentUnanswered(user: 1)", "ready", "2A9F<02020100"])
        var unbonded = dialogue()
        _ = unbonded.handle(.start, at: time(0))
        #expect(texts(unbonded.handle(.refused(Self.point, .authentication), at: time(1))) == ["fail authentication"])
        var noUsers = dialogue([])
        #expect(texts(noUsers.handle(.start, at: time(0))) == ["needsUsers", "ready"])
        #expect(texts(noUsers.handle(.received(Self.weight, [1]), at: time(0))) == ["2A9D!01"])
        // Without the fields and the increment there is nothing to write.
        var plain = dialogue(available: [Self.point])
        _ = plain.handle(.start, at: time(0))
        #expect(texts(plain.handle(.received(Self.point, [0x20, 0x02, 0x01]), at: time(0))) == ["ready"])
        #expect(DialogueDescription.userData(Self.users).begin([Self.weight]) == nil)
    }

    @Test func survivesRandomBytes() {
        DialogueProof.survives(
            { dialogue() }, names: [Self.point, Self.weight] + UserDataDialogue.fields,
            intended: [[0x20, 0x02, 0x01], [0x20, 0x02, 0x05], [0xC4, 0x07, 5, 6]])
    }
}
