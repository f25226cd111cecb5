import HealthModel

/// The bytes or the row of text that a source received, without interpretation.
///
/// Valid only during the call that receives it, because the payload is the source's buffer and is reused.
public struct RawFrame {
    /// The content that a source delivers.
    public enum Payload {
        case bytes(UnsafeRawBufferPointer)
        case row(TextRow)
        /// The reason why the data cannot be read as a frame. The interpreter refuses it with this reason.
        case malformed(String)
    }

    /// The content of the frame.
    public var payload: Payload
    /// The place in its file or stream, for users who look for it.
    public var place: Place
    /// The hub's time of receipt.
    public var received: Instant
    /// The kind of frame: `csv`, `gatt:2A37`, `advert:FCD2`, `serial:CMS50`. Empty if the source has only one kind.
    public var channel: String
    /// The device that sent it, if the source knows that.
    public var device: Device?
    /// Whether it may be truncated, as the last row of a table that ends without a line break.
    public var isProvisional = false
    /// How it was heard, or `nil` if the hub heard it itself.
    public var hearing: Hearing?

    /// A frame with its place and time of receipt.
    public init(payload: Payload, place: Place, received: Instant, channel: String = "", device: Device? = nil) {
        self.payload = payload
        self.place = place
        self.received = received
        self.channel = channel
        self.device = device
    }
}

/// How another receiver heard a frame that it passed on, such as a radio of Home Assistant.
public struct Hearing: Hashable, Sendable {
    /// The receivers' memory as the origin of a frame.
    public enum Replay: String, Hashable, Sendable {
        /// An earlier frame, with the time at which it was heard.
        case timed
        /// An earlier frame whose time is unknown.
        case untimed
    }

    /// The name of the receiver. Each receiver hears frames in their order.
    public var receiver: String
    /// When the hub received it. ``RawFrame/received`` is when the receiver heard it.
    public var arrived: Instant
    /// `nil` if the receiver has just heard it.
    public var replay: Replay?

    /// A frame that a receiver passed on.
    public init(receiver: String, arrived: Instant, replay: Replay? = nil) {
        (self.receiver, self.arrived, self.replay) = (receiver, arrived, replay)
    }
}

/// The position of a frame in its file or stream.
public struct Place: Hashable, Sendable, CustomStringConvertible {
    /// The unit in which places are counted.
    public enum Kind: String, Hashable, Sendable {
        case line, record, byte
    }

    /// The unit in which the place is counted.
    public var kind: Kind
    /// The number, from 1 for lines and records and from 0 for bytes.
    public var number: Int

    /// A place with its number.
    @inlinable public init(_ kind: Kind, _ number: Int) {
        self.kind = kind
        self.number = number
    }

    public var description: String { "\(kind.rawValue) \(number)" }
}

/// One row of text, with cells in the order of the file, without quotes and escapes.
///
/// If one object has millions of rows, as a track has locations, several rows with the same columns may come as one. Their cells then
/// follow each other.
public final class TextRow {
    /// Each cell's bytes. An empty cell has no bytes.
    public var cells: [UnsafeRawBufferPointer] = []
    /// The place of each row if several came as one, otherwise empty.
    public var places: [Place] = []

    /// A row without cells.
    public init() {}

    /// The number of cells.
    @inlinable public var count: Int { cells.count }

    /// A cell's bytes, empty if the row has fewer cells.
    @inlinable public subscript(index: Int) -> UnsafeRawBufferPointer {
        index < cells.count ? cells[index] : UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// A cell as text, with U+FFFD for malformed UTF-8.
    public func text(_ index: Int) -> String { String(decoding: self[index], as: UTF8.self) }
}
