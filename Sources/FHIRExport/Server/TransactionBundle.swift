import HealthModel

/// Resources on their way, as octets: all are taken, or none.
struct TransactionBundle {
    private var octets = Array("{\"resourceType\":\"Bundle\",\"type\":\"transaction\",\"entry\":[".utf8)
    private(set) var count = 0

    /// What is done with a resource.
    enum Request {
        /// Put under a name of ours, or one that the server gave.
        case put(path: String)
        /// Made, unless a search finds one.
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
