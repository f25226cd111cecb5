import Formats

struct TransactionBundle {
    private var entries: [JSONObject] = []
    var count: Int { entries.count }

    /// The action for a resource.
    enum Request {
        /// Stored under our id or one from the server.
        case put(path: String)
        /// Created unless a search finds one.
        case create(type: String, ifNoneExist: String)
    }

    mutating func add(fullURL: String, _ request: Request, _ resource: JSONObject) {
        let action: JSONObject =
            switch request {
            case .put(let path): ["method": "PUT", "url": path]
            case .create(let type, let condition): ["method": "POST", "url": type, "ifNoneExist": condition]
            }
        entries.append(["fullUrl": fullURL, "resource": resource, "request": action])
    }

    var closed: [UInt8] { Self.bundle("transaction", entries) }

    /// A Bundle of a type.
    static func bundle(_ type: String, _ entries: [JSONObject]) -> [UInt8] {
        JSONObject(["resourceType": "Bundle", "type": type, "entry": entries]).closed
    }
}
