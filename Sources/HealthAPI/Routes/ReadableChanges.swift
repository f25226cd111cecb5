import HealthModel
import HealthServing
import SampleStore

/// The changes that a client may read, in the order in which it gets them: first the samples that became readable because grants were
/// widened, and then additions, deletions and prunings.
struct ReadableChanges {
    enum Event {
        case change(SampleChange)
        case pruned(Pruning)
    }

    let reader: Reader
    let client: Client
    /// The types to read, or `nil` for all.
    let types: Set<SampleType>?

    /// Reads the changes after an anchor.
    ///
    /// - Parameter visit: Called with each event and the anchor after it.
    /// - Returns: The anchor at the end. It covers all changes that existed at the start of the read.
    func read(after anchor: ClientAnchor, _ visit: (Event, ClientAnchor) throws -> Void) throws -> ClientAnchor {
        // The anchor is taken before the read. Later commits are either read or come after the anchor.
        var latest = try reader.store.changes.latestAnchor()
        let widening = try readWidened(after: anchor, visit)
        func clientAnchor(_ change: Anchor) -> ClientAnchor { ClientAnchor(change, widening: widening) }
        try reader.store.changes.read(
            after: anchor.change, types: types,
            pruned: { pruning, after in
                try visit(.pruned(pruning), clientAnchor(after))
                latest = after
            },
            { change, after in
                try visit(.change(change), clientAnchor(after))
                latest = after
            })
        return clientAnchor(latest)
    }

    /// Reads the samples before an anchor that became readable.
    ///
    /// - Returns: The number of the last widening.
    private func readWidened(after anchor: ClientAnchor, _ visit: (Event, ClientAnchor) throws -> Void) throws -> Int64 {
        let widenings = try reader.store.clients.widenings(of: client, after: anchor.widening)
        guard !widenings.isEmpty, anchor.change != .beginning else { return widenings.last }
        struct IsReached: Error {}
        // Samples pruned after that place are not missed because they were reported before or were never readable.
        let start = try anchor.place.flatMap { try reader.store.changes.anchor(at: $0) } ?? .beginning
        do {
            try reader.store.changes.read(
                after: start, types: types.map(widenings.types.intersection) ?? widenings.types,
                { change, after in
                    guard after.number <= anchor.change.number else { throw IsReached() }
                    guard after.number > anchor.place ?? 0, case .added(let stored) = change,
                        widenings.include(stored.sample, source: client.source)
                    else { return }
                    try visit(.change(change), ClientAnchor(anchor.change, widening: anchor.widening, place: after.number))
                })
        } catch is IsReached {}
        return widenings.last
    }
}
