import BlueZSource

extension TrafficReader {
    /// A device that a person named, as if it were adopted.
    public struct Named: Hashable, Sendable {
        /// `C0:01:02:03:04:01`.
        public var address: String
        /// By which profiles it is read; those that match it where there are none.
        public var profiles: [String]

        /// Reads `ADDRESS` or `ADDRESS=PROFILE,PROFILE`; nothing where the address is none.
        public init?(_ text: String) {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard let address = parts.first.flatMap({ BluetoothAddress($0) }) else { return nil }
            self.address = address.description
            profiles = parts.count > 1 ? parts[1].split(separator: ",").map(String.init) : []
        }
    }
}
