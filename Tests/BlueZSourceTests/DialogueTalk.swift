import HealthModel

@testable import BlueZSource

/// One complete conversation with a device, and its result.
struct DialogueTalk {
    /// Records that were handed on, in hexadecimal.
    private(set) var records: [String] = []
    private(set) var clocks: [WallTime] = []
    /// The cursor that the last commit stored.
    private(set) var cursor: RecordCursor?
    private(set) var sent: [String] = []
    private(set) var commits = 0
    /// The number of records that were handed on before the last commit was requested.
    private(set) var atCommit = 0

    /// - Parameter answer: the device's notifications after a write.
    init(
        _ dialogue: some DeviceDialogue, from cursor: RecordCursor?,
        answer: (CharacteristicName, [UInt8]) -> [(CharacteristicName, [UInt8])]
    ) {
        var dialogue = dialogue
        self.cursor = cursor
        var (now, retained) = (0, cursor)
        var commands = dialogue.handle(.start, at: DialogueProof.time(0))
        for _ in 0..<20_000 {
            if commands.isEmpty {
                guard dialogue.deadline != nil else { break }
                now += 1
                commands = dialogue.handle(.tick, at: DialogueProof.time(now))
                continue
            }
            switch commands.removeFirst() {
            case .write(let name, let bytes):
                for (name, piece) in answer(name, bytes) {
                    commands += dialogue.handle(.received(name, piece), at: DialogueProof.time(now))
                }
            case .deliver(_, let bytes): records.append(DialogueProof.hex(bytes))
            case .clock(let time): clocks.append(time)
            case .remember(let next): retained = next
            case .commit:
                commits += 1
                (atCommit, self.cursor) = (records.count, retained)
                commands += dialogue.handle(.committed, at: DialogueProof.time(now))
            case .notify(let notice): sent.append("\(notice)")
            case .ready: sent.append("ready")
            case .fail(let failure): sent.append("fail \(failure)")
            case .read, .pause: break
            }
        }
    }
}
