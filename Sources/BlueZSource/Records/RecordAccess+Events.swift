/// What the dialogue hears and says.
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
        /// All that was asked for came, and is committed.
        case complete(records: Int)
        /// What came is delivered; the rest is collected the next time. Why.
        case incomplete(String)
    }

    enum Event: Equatable {
        case start
        /// The request was written.
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
        /// Hand on a record, with its context where it has one.
        case deliver(measurement: [UInt8], context: [UInt8]?)
        /// A context whose measurement did not come.
        case deliverContext([UInt8])
        /// Everything came: commit it together with this cursor, then say `committed`.
        case commit(RecordCursor?)
        case end(Ending)
    }
}
