import HealthModel

/// The encoded resources of a transaction.
struct TransactionBundle {
    private var octets = Array("{\"resourceType\":\"Bundle\",\"type\":\"transaction\",\"entry\":[".utf8)
    private(set) var count = 0

    /// The action for a resource.
    enum Request {
        /// Stored under our id or one from the server.
        case put(path: String)
        /// Created unless a search finds one.
        case create(type: String, ifNoneExist: String)
    }

    mutating func add(fullURL: String, _ request: Request, _ resource: (inout [UInt8]) -> Void) {
        octets += (count > 0 ? "," : "").utf8
        octets += "{\"fullUrl\":".utf8
        JSONText.append(string: fullURL, to: &octets)
        octets += ",\"resource\":".utf8
        resource(&octets)
        octets += ",\"request\":{\"method\":".utf8
        switch request {
        case .put(let path):
            octets += "\"PUT\",\"url\":".utf8
            JSONText.append(string: path, to: &octets)
        case .create(let type, let condition):
            octets += "\"POST\",\"url\":\"\(type)\",\"ifNoneExist\":".utf8
            JSONText.append(string: condition, to: &octets)
        }
        octets += "}}".utf8
        count += 1
    }

    var closed: [UInt8] { octets + Array("]}".utf8) }
}
