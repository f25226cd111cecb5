import SampleStore

/// How far a client has come with the changes, and with what became readable by grants that were widened since.
struct ClientAnchor {
    /// The last change that it has seen, of what it might read then.
    var change: Anchor
    /// The last widening of its grants of which it has seen all.
    var widening: Int64 = 0
    /// The number of the last change of which it has been told since the next one.
    var place: Int64?

    init(_ change: Anchor, widening: Int64 = 0, place: Int64? = nil) {
        (self.change, self.widening, self.place) = (change, widening, place)
    }

    /// Reads an anchor: those that were given before there were widenings have seen none.
    init?(_ text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let change = Anchor(parts[0]) else { return nil }
        self.change = change
        guard parts.count > 1 else { return }
        guard parts.count < 4, let widening = Int64(parts[1], radix: 36) else { return nil }
        self.widening = widening
        guard parts.count == 3 else { return }
        guard let place = Int64(parts[2], radix: 36) else { return nil }
        self.place = place
    }

    /// At most 48 bytes, as a ``Seal`` has it, up to some 10¹³ changes.
    var text: String {
        let parts = [change.description] + [widening, place].compactMap { $0.map { String($0, radix: 36) } }
        return parts.joined(separator: " ")
    }
}
