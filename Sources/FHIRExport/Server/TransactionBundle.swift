import HealthModel

/// The encoded resources of a transaction.
struct TransactionBundle {
    private var bytes = Array("{\"resourceType\":\"Bundle\",\"type\":\"transaction\",\"entry\":[".utf8)
    private(set) var count = 0

    /// The action for a resource.
    enum Request {
        /// Stored under our id or one from the server.
        case put(path: String)
        /// Created unless a search finds one.
        case create(type: String, ifNoneExist: String)
    }

    mutating func add(fullURL: String, _ request: Request, _ resource: (inout [UInt8]) -> Void) {
        bytes += (count > 0 ? "," : "").utf8
        bytes += "{\"fullUrl\":".utf8
        JSONText.append(string: fullURL, to: &bytes)
        bytes += ",\"resource\":".utf8
        resource(&bytes)
        bytes += ",\"request\":{\"method\":".utf8
        switch request {
        case .put(let path):
            bytes += "\"PUT\",\"url\":".utf8
            JSONText.append(string: path, to: &bytes)
        case .create(let type, let condition):
            bytes += "\"POST\",\"url\":\"\(type)\",\"ifNoneExist\":".utf8
            JSONText.append(string: condition, to: &bytes)
        }
        bytes += "}}".utf8
        count += 1
    }

    var closed: [UInt8] { bytes + Array("]}".utf8) }
}
