/// The machine's events and commands.
extension ConnectionMachine {
    enum State: Equatable {
        /// Not wanted, or no adapter.
        case stopped
        /// Waits for an advertisement.
        case idle
        /// Waits until a time.
        case waiting
        /// Waits for its turn, because an adapter makes one connection at a time.
        case queued
        case connecting
        case resolving
        case working(Step)
        case live
        case leaving
        /// Waits for the user to act.
        case blocked(ConnectionNotice)
    }

    enum Step: Hashable {
        case information
        case readClock
        case read(CharacteristicName)
        case unsubscribe(CharacteristicName)
        case subscribe(CharacteristicName)
        case write(OpeningWrite)
        /// The device's own dialogue, up to the point at which the device is in use.
        case converse
        case collect
        /// Waits until the caller has made the records durable.
        case commit
        case setClock

        /// The thing that the step waits for, for users.
        var waitedFor: String {
            switch self {
            case .information: "its device information"
            case .readClock: "its clock"
            case .read(let name), .subscribe(let name), .unsubscribe(let name): "\(name)"
            case .write(let write): "\(write.name)"
            case .converse: "its protocol session"
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
        /// An advertisement was received.
        case seen
        case turn
        /// The link is up. BlueZ may have connected a bonded device by itself.
        case connected
        case connectFailed(LinkFailure)
        /// The services are known, or changed on the same link. `unchanged` are the unchanged ones.
        case resolved(Set<CharacteristicName>, unchanged: Set<CharacteristicName> = [])
        case linkLost
        case finished(Step, Outcome)
        /// One of a step's several requests was answered.
        case progress(Step)
        /// A frame of the profile arrived.
        case frame
        /// BlueZ removed services that are in use. It may add them again at another path.
        case servicesLost
        case bonded
        /// The bond was removed, or was never kept.
        case unbonded
        case tick
    }

    enum Command: Equatable {
        case requestTurn
        case releaseTurn
        case connect
        case disconnect
        case perform(Step)
        case notify(ConnectionNotice)
        /// Make BlueZ forget the device and its table of services.
        case dropCache
        /// For the recovery, which observes all devices of an adapter.
        case observe(Recovery.Observation)
    }
}
