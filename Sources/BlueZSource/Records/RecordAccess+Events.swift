/// The states, events and commands of the dialogue.
extension RecordAccess {
    enum State: Equatable {
        case idle
        case counting
        case lookingAtLast
        case reporting(all: Bool)
        case aborting(again: Bool)
        case committing(RecordCursor?)
        case ended(Ending)
    }

    enum Ending: Equatable {
        /// All requested records arrived and are committed.
        case complete(records: Int)
        /// The received records are delivered. The rest is collected the next time, for this reason.
        case incomplete(String)
    }

    enum Event: Equatable {
        case start
        case written
        case writeFailed(LinkFailure)
        case indicated([UInt8])
        case measured([UInt8])
        case context([UInt8])
        /// The caller made everything delivered durable.
        case committed
        case abort
        case linkLost
        case tick
    }

    enum Command: Equatable {
        case write([UInt8])
        /// Pass on a record, with its context if it has one.
        case deliver(measurement: [UInt8], context: [UInt8]?)
        /// Pass on a context whose measurement did not arrive.
        case deliverContext([UInt8])
        /// Everything arrived. Commit it together with this cursor, then send `committed`.
        case commit(RecordCursor?)
        case end(Ending)
    }
}
