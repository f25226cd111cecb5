import CMicroHTTPD
import Dispatch

/// One request and its answer: what goes by a request in libmicrohttpd, from its first line until it is complete.
final class Exchange {
    let target: String
    private(set) var head: RequestHead?
    private(set) var isBegun = false
    private var body: [UInt8] = []
    private var limit = 0
    private var refusal: Problem?
    private var sender: BodySender?
    /// What of the server's memory for bodies is set aside.
    private var reserved = 0
    /// Once it is known.
    private(set) var answer: HTTPResponse?

    init(target: String) { self.target = target }

    /// The head has come.
    ///
    /// - Returns: whether it is answered at once, so that the body is not even read.
    func begin(_ connection: OpaquePointer, method: String, _ core: ServerCore) -> Bool {
        isBegun = true
        do throws(Problem) {
            let head = try Self.head(connection, method: method, target, core.settings)
            self.head = head
            try core.hosts.check(head)
            try OriginGuard.check(head)
            limit = try core.handler.bodyLimit(of: head)
            try checkLength(head)
            try Self.checkEncoding(head)
            if limit > 0, head.hasBody { try reserve(head, core) }
        } catch {
            refusal = error
        }
        return refusal != nil && head?.hasBody ?? true
    }

    private func checkLength(_ head: RequestHead) throws(Problem) {
        let lengths = head.headers.filter { $0.name == "content-length" }
        guard lengths.count + head.headers.filter({ $0.name == "transfer-encoding" }).count <= 1 else {
            throw Problem(400, "a body has one length")
        }
        guard let length = lengths.first?.value else { return }
        guard let count = UInt64(length) else { throw Problem(400, "Content-Length is no number") }
        guard count <= UInt64(limit) else { throw tooLarge }
    }

    /// Nothing is unpacked: what a body says of its type it says of its octets as they came.
    private static func checkEncoding(_ head: RequestHead) throws(Problem) {
        guard let encoding = head.header("content-encoding"), encoding.lowercased() != "identity" else { return }
        throw Problem(415, "what is sent is not packed", headers: ["Accept-Encoding": "identity"])
    }

    private func reserve(_ head: RequestHead, _ core: ServerCore) throws(Problem) {
        let octets = head.header("content-length").flatMap { Int($0) } ?? limit
        guard core.reserve(octets) else {
            throw Problem(503, "too much is sent at once; ask again", headers: ["Retry-After": "1"])
        }
        reserved = octets
    }

    private var tooLarge: Problem {
        Problem(
            413, limit == 0 ? "nothing may be sent with this request" : "at most \(limit) octets may be sent with this request")
    }

    /// Takes a part of the body; `false` where it is too much.
    func take(_ octets: UnsafeRawBufferPointer) -> Bool {
        guard octets.count <= limit - body.count else { return false }
        body += octets
        return true
    }

    /// Where the answer is made that may have to wait; `nil` where it is made at once.
    func queue(_ core: ServerCore) -> DispatchQueue? {
        guard let head, refusal == nil else { return nil }
        return core.handler.queue(for: head)
    }

    func refuse(_ problem: Problem) { refusal = problem }

    /// Makes the answer, with what all answers have.
    func makeAnswer(_ core: ServerCore) {
        guard let head, refusal == nil else {
            answer = Answering.finished((refusal ?? Problem(400, "the request is malformed")).response, to: head)
            return
        }
        answer = Answering.finished(core.handler.answer(HTTPRequest(head: head, body: body)), to: head)
        body = []
    }

    /// How long the answer is held back; asked once.
    func takeDelay() -> Duration? {
        guard let delay = answer?.delay, delay > .zero else { return nil }
        answer?.delay = .zero
        return delay
    }

    func sends(by sender: BodySender) { self.sender = sender }

    func finish(_ core: ServerCore) {
        sender?.finish()
        core.release(reserved)
        reserved = 0
    }

    /// Reads the head out of libmicrohttpd's memory.
    private static func head(
        _ connection: OpaquePointer, method: String, _ target: String, _ settings: ServerSettings
    ) throws(Problem) -> RequestHead {
        guard target.utf8.count <= settings.longestTarget else { throw Problem(414, "the request's target is too long") }
        let headers = HeaderList(most: settings.mostHeaders)
        withExtendedLifetime(headers) {
            _ = MHD_get_connection_values_n(
                connection, .HEADER_KIND,
                { context, _, name, nameSize, value, valueSize in
                    guard let context else { return .NO }
                    let list = Unmanaged<HeaderList>.fromOpaque(context).takeUnretainedValue()
                    let name = HeaderList.text(name, nameSize).lowercased()
                    return list.add(name, HeaderList.text(value, valueSize)) ? .YES : .NO
                }, Unmanaged.passUnretained(headers).toOpaque())
        }
        guard !headers.isTooLong else { throw Problem(431, "the request has more than \(settings.mostHeaders) header fields") }
        let parsed = try RequestTarget(target)
        return RequestHead(method: method, path: parsed.path, query: parsed.query, headers: headers.all)
    }
}

/// Headers as they are told one by one.
private final class HeaderList {
    private let most: Int
    private(set) var all: [(name: String, value: String)] = []
    private(set) var isTooLong = false

    init(most: Int) { self.most = most }

    func add(_ name: String, _ value: String) -> Bool {
        guard all.count < most else {
            isTooLong = true
            return false
        }
        all.append((name, value))
        return true
    }

    static func text(_ pointer: UnsafePointer<CChar>?, _ size: Int) -> String {
        guard let pointer else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: pointer, count: size), as: UTF8.self)
    }
}
