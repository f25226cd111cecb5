import SampleStore

/// A client's position in the changes and in the widenings of its grants.
struct ClientAnchor {
    /// The last change that the client has read.
    var change: Anchor
    /// The last widening whose samples have all been read.
    var widening: Int64 = 0
    /// The number of the last change that was read for the next widening.
    var place: Int64?

    init(_ change: Anchor, widening: Int64 = 0, place: Int64? = nil) {
        (self.change, self.widening, self.place) = (change, widening, place)
    }

    /// Parses an anchor. Anchors from before widenings were introduced start at widening 0.
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

    /// The text form. It has at most 48 bytes, the limit of ``Seal``, up to about 10¹³ changes.
    var text: String {
        let parts = [change.description] + [widening, place].compactMap { $0.map { String($0, radix: 36) } }
        return parts.joined(separator: " ")
    }
}
