/// The User Data service of a scale with several users. Each user consents in turn, and the scale sends the stored measurements of that
/// user.
///
///     request to 2A9F               answer, indicated by 2A9F
///     02 <user> <code u16>          20 02 01     consent is given · 05 the code is another · 02 03 04 not possible
///     read 2A85 2A8C 2A8E FFF3,     (date of birth, sex, height, activity): written back as they are, after which
///     write them, 2A99 01 00 00 00  scales of Beurer send a body composition that is not all zeros
///
/// A user's data is durable before the next user consents. With several users there are three rounds, so that a person who is weighed
/// during another user's turn is included. After that the dialogue rests, so that the link does not stay up forever. No user is ever
/// registered or deleted.
///
/// Sources: Bluetooth User Data Service 1.0, User Control Point. The order of the profile's fields and the increment are those of Beurer's
/// app (capture of a BF788 described in ble-scale-sync, issue 229).
struct UserDataDialogue: DeviceDialogue {
    static let controlPoint = CharacteristicName(0x181C, 0x2A9F)
    static let increment = CharacteristicName(0x181C, 0x2A99)
    /// Date of birth, sex, height, and the activity that Beurer's scales also need.
    static let fields = [
        CharacteristicName(0x181C, 0x2A85), CharacteristicName(0x181C, 0x2A8C), CharacteristicName(0x181C, 0x2A8E),
        CharacteristicName(0xFFF0, 0xFFF3),
    ]
    /// No answer comes later than this.
    static let timeout: Duration = .seconds(10)
    /// After this time without a measurement, the user's data is complete.
    static let quiet: Duration = .seconds(4)
    static let rounds = 3

    private(set) var deadline: Duration?
    private var state = State.idle
    private let users: [ConsentingUser]
    private let fields: [CharacteristicName]
    private let hasIncrement: Bool
    private var isReady = false
    /// Whether data arrived that is not durable yet.
    private var hasChanges = false
    private var turns = 0
    /// The fields of the current user that are being read, their values, and pending writes. The next user consents only after these are
    /// done, so that the fields of one user are never written to another.
    private var reading: Set<CharacteristicName> = []
    private var values: [CharacteristicName: [UInt8]] = [:]
    private var writing: [CharacteristicName] = []

    private enum State: Equatable {
        case idle
        /// The user with this index was asked for consent.
        case consenting(Int)
        case listening(Int)
        case committing(Int)
        case resting
    }

    init(_ users: [ConsentingUser], available: Set<CharacteristicName>) {
        self.users = users
        fields = Self.fields.filter(available.contains)
        hasIncrement = available.contains(Self.increment)
    }

    mutating func handle(_ event: DialogueEvent, at now: DialogueTime) -> [DialogueCommand] {
        switch event {
        case .start:
            guard state == .idle else { return [] }
            guard !users.isEmpty else {
                state = .resting
                return [.notify(.needsUsers)] + ready()
            }
            return consent(0, now)
        case .received(Self.controlPoint, let bytes): return answered(bytes, now)
        case .received(let name, let bytes):
            hasChanges = true
            if case .listening = state { deadline = now.uptime + Self.quiet }
            return [.deliver(name, bytes)]
        case .read(let name, let bytes):
            guard reading.remove(name) != nil else { return [] }
            // An empty field is not written, so the value on the scale stays.
            if !bytes.isEmpty { values[name] = bytes }
            return writeBack()
        case .written(let name):
            isAnswered(name)
            return []
        case .refused(Self.controlPoint, let failure):
            guard case .consenting(let place) = state else { return [] }
            // The connection reports a missing bond.
            if !isReady, failure == .authentication { return [.fail(failure)] }
            return [.notify(.consentUnanswered(user: users[place].number))] + next(after: place, now)
        case .refused(let name, _):
            // A field that cannot be read is not written.
            if reading.remove(name) != nil { return writeBack() }
            isAnswered(name)
            return []
        case .committed:
            guard case .committing(let place) = state else { return [] }
            return consentNext(after: place, now)
        case .tick: return tick(now)
        }
    }

    private mutating func tick(_ now: DialogueTime) -> [DialogueCommand] {
        guard let due = deadline, now.uptime >= due else { return [] }
        deadline = nil
        switch state {
        case .consenting(let place): return [.notify(.consentUnanswered(user: users[place].number))] + next(after: place, now)
        case .listening(let place):
            guard reading.isEmpty, writing.isEmpty else {
                deadline = now.uptime + Self.quiet
                return []
            }
            return next(after: place, now)
        case .idle, .committing, .resting: return []
        }
    }

    private mutating func consent(_ place: Int, _ now: DialogueTime) -> [DialogueCommand] {
        state = .consenting(place)
        deadline = now.uptime + Self.timeout
        let user = users[place]
        return [.write(Self.controlPoint, [0x02, user.number, UInt8(user.code & 0xFF), UInt8(user.code >> 8)])]
    }

    /// Handles `20 02 <value>`. Answers to other requests are ignored.
    private mutating func answered(_ bytes: [UInt8], _ now: DialogueTime) -> [DialogueCommand] {
        guard case .consenting(let place) = state, bytes.count >= 3, bytes[0] == 0x20, bytes[1] == 0x02 else { return [] }
        guard bytes[2] == 0x01 else {
            return [.notify(.consentRefused(user: users[place].number))] + next(after: place, now)
        }
        state = .listening(place)
        deadline = now.uptime + Self.quiet
        reading = Set(fields)
        values = [:]
        return ready() + (fields.isEmpty ? writeBack() : fields.map { .read($0) })
    }

    /// When all fields are read, writes each one back unchanged in the order of the maker's app, and then the increment.
    private mutating func writeBack() -> [DialogueCommand] {
        guard reading.isEmpty else { return [] }
        var commands: [DialogueCommand] = fields.compactMap { name in values[name].map { .write(name, $0) } }
        writing = fields.filter { values[$0] != nil }
        if hasIncrement {
            commands.append(.write(Self.increment, [0x01, 0, 0, 0]))
            writing.append(Self.increment)
        }
        values = [:]
        return commands
    }

    private mutating func isAnswered(_ name: CharacteristicName) {
        if let place = writing.firstIndex(of: name) { writing.remove(at: place) }
    }

    /// Ends a user's turn. Received data is made durable before the next turn begins.
    private mutating func next(after place: Int, _ now: DialogueTime) -> [DialogueCommand] {
        guard hasChanges else { return consentNext(after: place, now) }
        hasChanges = false
        state = .committing(place)
        deadline = nil
        return ready() + [.commit]
    }

    private mutating func consentNext(after place: Int, _ now: DialogueTime) -> [DialogueCommand] {
        let commands = ready()
        turns += 1
        let maximum = users.count == 1 ? 1 : Self.rounds * users.count
        guard turns < maximum else {
            // The last user stays active, so that new weighings of that user arrive.
            state = .resting
            deadline = nil
            return commands
        }
        return commands + consent((place + 1) % users.count, now)
    }

    private mutating func ready() -> [DialogueCommand] {
        guard !isReady else { return [] }
        isReady = true
        return [.ready]
    }
}
