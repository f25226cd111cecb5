import HealthModel

/// What a source hands on: the bytes or the row of text that arrived, and nothing of their meaning.
///
/// Valid only while the call that received it runs: the payload is the source's buffer, and is reused.
public struct RawFrame {
    /// What a source delivers.
    public enum Payload {
        case bytes(UnsafeRawBufferPointer)
        case row(TextRow)
        /// There is something that cannot be read as a frame; why. The interpreter refuses it with this reason.
        case malformed(String)
    }

    /// What was delivered.
    public var payload: Payload
    /// Where in its file or stream it stands, for a person who looks for it.
    public var place: Place
    /// By the hub's clock.
    public var received: Instant
    /// What kind of frame it is: `csv`, `gatt:2A37`, `advert:FCD2`, `serial:CMS50`. Empty where the source has only one kind.
    public var channel: String
    /// The device it comes from, where the source knows one.
    public var device: Device?
    /// Whether it may be the beginning of a longer one: the last row of a table that ends without a line break.
    public var isProvisional = false

    /// A frame as it arrived.
    public init(payload: Payload, place: Place, received: Instant, channel: String = "", device: Device? = nil) {
        self.payload = payload
        self.place = place
        self.received = received
        self.channel = channel
        self.device = device
    }
}

/// Where a frame stands in what it came from.
public struct Place: Hashable, Sendable, CustomStringConvertible {
    /// What places are counted in.
    public enum Kind: String, Hashable, Sendable {
        case line, record, byte
    }

    /// What is counted.
    public var kind: Kind
    /// From 1 for lines and records, from 0 for bytes.
    public var number: Int

    /// A place by its number.
    @inlinable public init(_ kind: Kind, _ number: Int) {
        self.kind = kind
        self.number = number
    }

    public var description: String { "\(kind.rawValue) \(number)" }
}

/// One row of text: cells in the order of the file, without quotes and escapes.
///
/// Where one thing takes millions of rows, as a track its locations, several rows of the same columns may come as one, their cells behind one
/// another.
public final class TextRow {
    /// Each cell's bytes. An empty cell has no bytes.
    public var cells: [UnsafeRawBufferPointer] = []
    /// Where each row stands, where several came as one; else empty.
    public var places: [Place] = []

    /// A row without cells.
    public init() {}

    /// Cells of the row.
    @inlinable public var count: Int { cells.count }

    /// A cell's bytes; no bytes where the row has fewer cells.
    @inlinable public subscript(index: Int) -> UnsafeRawBufferPointer {
        index < cells.count ? cells[index] : UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// A cell as text; malformed UTF-8 shows as U+FFFD.
    public func text(_ index: Int) -> String { String(decoding: self[index], as: UTF8.self) }
}
