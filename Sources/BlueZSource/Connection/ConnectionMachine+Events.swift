/// What the machine hears and says.
extension ConnectionMachine {
    enum State: Equatable {
        /// Not wanted, or no adapter.
        case stopped
        /// Waits to be seen.
        case idle
        /// Waits for its time.
        case waiting
        /// Waits for its turn: an adapter makes one connection at a time.
        case queued
        case connecting
        case resolving
        case working(Step)
        case live
        case leaving
        /// Only a person can help.
        case blocked(ConnectionNotice)
    }

    enum Step: Hashable {
        case information
        case readClock
        case read(CharacteristicName)
        case unsubscribe(CharacteristicName)
        case subscribe(CharacteristicName)
        case write(OpeningWrite)
        /// The device's own dialogue, up to where it is found to be in use.
        case converse
        case collect
        /// Waits until the caller has made the records durable.
        case commit
        case setClock

        /// What is waited for, in a person's words.
        var waitedFor: String {
            switch self {
            case .information: "what it says about itself"
            case .readClock: "its clock"
            case .read(let name), .subscribe(let name), .unsubscribe(let name): "\(name)"
            case .write(let write): "\(write.name)"
            case .converse: "the conversation with it"
            case .collect: "its stored records"
            case .commit: "the store"
            case .setClock: "its clock to be set"
            }
        }
    }

    enum Outcome: Equatable {
        case done
        case failed(LinkFailure)
    }

    enum Event: Equatable {
        case start
        case stop
        /// An advertisement was heard.
        case seen
        case turn
        /// The link is up, whoever asked for it (BlueZ connects bonded devices by itself).
        case connected
        case connectFailed(LinkFailure)
        /// The services are known, or others than before on the same link: `kept` are where they were.
        case resolved(Set<CharacteristicName>, kept: Set<CharacteristicName> = [])
        case linkLost
        case finished(Step, Outcome)
        /// One of a step's several requests was answered.
        case progress(Step)
        /// Something of the profile arrived.
        case frame
        /// BlueZ took services away that are used; it may show them at another place.
        case servicesGone
        case bonded
        /// The bond is gone, or was never kept.
        case unbonded
        case tick
    }

    enum Command: Equatable {
        case requestTurn
        case releaseTurn
        case connect
        case disconnect
        case perform(Step)
        case tell(ConnectionNotice)
        /// BlueZ is to forget the device, and its table of services with it.
        case dropCache
        /// For the recovery, which sees all devices of an adapter.
        case observe(Recovery.Observation)
    }
}
