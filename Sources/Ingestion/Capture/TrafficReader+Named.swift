import BlueZSource

extension TrafficReader {
    /// A device that the user named, read as if it were adopted.
    package struct Named: Hashable, Sendable {
        /// `C0:01:02:03:04:01`.
        package var address: String
        /// The ids of the profiles that read it. If empty, the profiles that match it are used.
        package var profiles: [String]

        /// Parses `ADDRESS` or `ADDRESS=PROFILE,PROFILE`. Returns `nil` if the address is invalid.
        package init?(_ text: String) {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard let address = parts.first.flatMap({ BluetoothAddress($0) }) else { return nil }
            self.address = address.description
            profiles = parts.count > 1 ? parts[1].split(separator: ",").map(String.init) : []
        }
    }
}
