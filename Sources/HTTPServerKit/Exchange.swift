import CMicroHTTPD
import Glibc

/// A request and its response: libmicrohttpd's context of a request from its first line to its completion.
final class Exchange {
    let target: String
    private(set) var head: RequestHead?
    private(set) var isBegun = false
    private var body: [UInt8] = []
    /// The body, if it is not kept in memory.
    private var spool: SpooledBody?
    /// The number of bytes of the body so far.
    private var taken = 0
    private var limit = 0
    private var refusal: Problem?
    /// The route, once it is known.
    private var resolved: ResolvedRequest?
    /// Whether the rest of the body is read and dropped before the rejection is sent. A client that is still sending would not see it.
    private var isDiscarding = false
    private var sender: BodySender?
    /// The end of the time for the body.
    private var bodyEnd: ContinuousClock.Instant?
    /// The reserved share of the server's memory for bodies.
    private var bodyShare: MemoryBudget.Share?
    private var streamPlace: SharedPlaces.Place?
    /// The place of a request that waits for its response.
    var waitingPlace: SharedPlaces.Place?
    /// The reserved share of the server's memory for responses.
    private var answerShare: MemoryBudget.Share?
    /// The response, once it is known.
    private(set) var answer: HTTPResponse?

    private var socket: Int32 = -1

    init(target: String) { self.target = target }

    /// Checks the head.
    ///
    /// - Returns: whether to respond at once without reading the body.
    func begin(_ connection: OpaquePointer, method: String, _ core: ServerCore) -> Bool {
        isBegun = true
        socket = vitalgate_http_socket(connection)
        do throws(Problem) {
            var head = try Self.head(connection, method: method, target, core.settings)
            if head.peer == core.settings.proxy { head.proxied = try ProxiedAddress(head) }
            self.head = head
            try core.hosts.check(head)
            try OriginGuard.check(head)
            try Self.checkFraming(head)
            let resolved = try core.handler.resolve(head)
            self.resolved = resolved
            limit = resolved.body.maximum
            try checkLength(head)
            try Self.checkEncoding(head)
            if limit > 0, head.hasBody { try reserve(head, resolved.body, core) }
        } catch {
            refusal = error
        }
        return refusal != nil && !isDiscarding && head?.hasBody ?? true
    }

    /// Rejects a body whose end parsers could read differently (RFC 9112, section 6.3). There must be one plain length or one transfer
    /// coding.
    private static func checkFraming(_ head: RequestHead) throws(Problem) {
        let lengths = head.headers.filter { $0.name == "content-length" }.map(\.value)
        let codings = head.headers.filter { $0.name == "transfer-encoding" }.map(\.value)
        guard lengths.count + codings.count <= 1 else {
            throw malformed("The request has more than one Content-Length or Transfer-Encoding.")
        }
        if let length = lengths.first {
            guard (1...19).contains(length.utf8.count), length.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw malformed("Content-Length must be a number.")
            }
        }
        if let coding = codings.first, coding.lowercased() != "chunked" {
            throw Problem(501, "The only supported transfer coding is chunked.", headers: closing)
        }
    }

    /// A problem that closes the connection, because another parser may read the head differently.
    private static func malformed(_ detail: String) -> Problem { Problem(400, detail, headers: closing) }
    private static let closing = ["Connection": "close"]

    private func checkLength(_ head: RequestHead) throws(Problem) {
        guard let length = head.header("content-length").flatMap({ UInt64($0) }) else { return }
        guard length <= UInt64(limit) else { throw tooLarge }
    }

    /// Rejects content encodings. Bodies are not decompressed, and their declared type describes the bytes as sent.
    private static func checkEncoding(_ head: RequestHead) throws(Problem) {
        guard let encoding = head.header("content-encoding"), encoding.lowercased() != "identity" else { return }
        throw Problem(415, "The body must not be compressed.", headers: ["Accept-Encoding": "identity"])
    }

    private func reserve(_ head: RequestHead, _ allowance: BodyAllowance, _ core: ServerCore) throws(Problem) {
        // The share of a body in a file limits how many of them there are.
        let size = allowance.folder == nil ? bodySize(head) : min(bodySize(head), Self.spoolShare)
        bodyShare = core.bodies.reserve(size, for: allowance.payer)
        guard bodyShare != nil else {
            isDiscarding = allowance.payer != .unauthenticated && head.header("expect") == nil
            throw Problem(503, "Too much data is being sent at once. Try again.", bound: .bodies)
        }
        if let folder = allowance.folder { spool = try SpooledBody(in: folder) }
    }

    /// The bytes of memory that a body in a file counts for.
    private static let spoolShare = 4 << 20

    private var tooLarge: Problem {
        Problem(
            413, limit == 0 ? "This request takes no body." : "The body can have at most \(limit) bytes.")
    }

    private func bodySize(_ head: RequestHead?) -> Int { head?.header("content-length").flatMap { Int($0) } ?? limit }

    /// The rest of the time for the body, which begins with the first call. A large body has more time than a small one.
    func bodyTimeLeft(_ settings: ServerSettings) -> Duration {
        let now = ContinuousClock.now
        let end = bodyEnd ?? now + settings.bodyTime(for: min(bodySize(head), limit))
        bodyEnd = end
        return now.duration(to: end)
    }

    /// Appends a part of the body. Returns `false` if the body exceeds its limit.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= limit - taken else { return false }
        taken += bytes.count
        if isDiscarding { return true }
        guard let spool else {
            body += bytes
            return true
        }
        do throws(Problem) {
            try spool.append(bytes)
        } catch {
            // The rest is dropped, so that the client sees the answer.
            (refusal, isDiscarding, self.spool) = (error, true, nil)
        }
        return true
    }

    /// The queue for a response that may have to wait, or `nil` if it is made at once.
    var queue: FairQueue? { refusal == nil ? resolved?.queue : nil }

    /// Whose shares the request uses. It is found once.
    private(set) lazy var payer = resolved?.payer() ?? .unauthenticated

    func refuse(_ problem: Problem) { refusal = problem }

    /// Makes the response, including the common headers.
    func makeAnswer(_ core: ServerCore) {
        defer { if let bound = answer?.bound { core.countRefusal(bound) } }
        guard let head, let resolved, refusal == nil else {
            answer = Answering.finished((refusal ?? Problem(400, "The request is malformed.")).response, to: head)
            return
        }
        answer = Answering.finished(resolved.answer(HTTPRequest(head: head, body: body, file: spool)), to: head)
        (body, spool) = ([], nil)
        boundAnswer(core)
        boundStream(core)
    }

    /// Takes a place for a live stream. A client with too many of them is disconnected, because a connection is a share as well.
    private func boundStream(_ core: ServerCore) {
        guard case .stream(let stream)? = answer?.content, stream.isLive else { return }
        // A suspended connection does not notice that its client left, such as a browser that opened another page. It is ended, because a
        // client that only stops sending could read on. A completed request releases its place before its socket is closed.
        streamPlace = core.streams.take(for: payer) { [socket] in vitalgate_http_end_if_left(socket) != 0 }
        guard streamPlace == nil else { return }
        stream.close()
        // The client can help itself only if its own share is used up.
        let isOwn = core.streams.isShareUsed(by: payer)
        var problem = Problem(
            isOwn ? 429 : 503, "Too many streams are open.\(isOwn ? " Close one of them, then try again." : "")",
            headers: ["Retry-After": "30", "Connection": "close"])
        problem.bound = .streams
        answer = Answering.finished(problem.response, to: head)
    }

    /// Reserves memory for a finished response until the client has read it. All of them together have a limit.
    private func boundAnswer(_ core: ServerCore) {
        guard case .bytes(let bytes)? = answer?.content, bytes.count > Self.smallAnswer else { return }
        answerShare = core.answers.reserve(bytes.count, for: payer)
        guard answerShare == nil else { return }
        let problem = Problem(503, "Too many responses have not been read yet. Try again.", bound: .responses)
        answer = Answering.finished(problem.response, to: head)
    }

    /// Responses up to this number of bytes are not counted, because the number of connections is limited.
    private static let smallAnswer = 16_384

    /// Returns the delay of the response. Later calls return `nil`.
    func takeDelay() -> Duration? {
        guard let delay = answer?.delay, delay > .zero else { return nil }
        answer?.delay = .zero
        return delay
    }

    func sends(by sender: BodySender) { self.sender = sender }

    func finish() {
        sender?.finish()
        streamPlace = nil
        waitingPlace = nil
        bodyShare = nil
        answerShare = nil
        spool = nil
    }

    /// Reads the head from libmicrohttpd's memory.
    private static func head(
        _ connection: OpaquePointer, method: String, _ target: String, _ settings: ServerSettings
    ) throws(Problem) -> RequestHead {
        guard target.utf8.count <= settings.maximumTargetLength else { throw Problem(414, "The request target is too long.") }
        let headers = HeaderList(maximum: settings.maximumHeaders)
        withExtendedLifetime(headers) {
            _ = MHD_get_connection_values_n(
                connection, .HEADER_KIND,
                { context, _, name, nameSize, value, valueSize in
                    guard let context else { return .NO }
                    let list = Unmanaged<HeaderList>.fromOpaque(context).takeUnretainedValue()
                    let isPlain =
                        !HTTPServer.readsHeadsLeniently
                        || vitalgate_http_ends_plainly(value, valueSize) != 0
                            && vitalgate_http_is_one_line(name, nameSize, value) != 0
                    return list.add(HeaderList.text(name, nameSize), HeaderList.text(value, valueSize), isPlain) ? .YES : .NO
                }, Unmanaged.passUnretained(headers).toOpaque())
        }
        guard !headers.isTooLong else {
            throw Problem(431, "The request has more than \(settings.maximumHeaders) header fields.")
        }
        guard !headers.isMalformed else { throw malformed("A header field is malformed.") }
        let parsed = try RequestTarget(target)
        return RequestHead(
            method: method, path: parsed.path, query: parsed.query, headers: headers.all, peer: peer(of: connection))
    }

    /// The client's IP address as text, or empty if there is none.
    static func peer(of connection: OpaquePointer) -> String {
        vitalgate_http_peer(connection).map(address) ?? ""
    }

    /// An IP address as text, or empty for other addresses.
    static func address(_ address: UnsafePointer<sockaddr>) -> String {
        let size =
            address.pointee.sa_family == sa_family_t(AF_INET6) ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
        guard address.pointee.sa_family == sa_family_t(AF_INET6) || address.pointee.sa_family == sa_family_t(AF_INET) else {
            return ""
        }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = getnameinfo(address, socklen_t(size), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        return code == 0 ? String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
    }
}

/// Collects headers as libmicrohttpd reports them.
private final class HeaderList {
    private let maximum: Int
    private(set) var all: [(name: String, value: String)] = []
    private(set) var isTooLong = false
    /// Whether a field is invalid by RFC 9110, section 5: its name is not a token, or its value contains a control character.
    private(set) var isMalformed = false

    init(maximum: Int) { self.maximum = maximum }

    func add(_ name: String, _ value: String, _ endsPlainly: Bool) -> Bool {
        guard all.count < maximum else {
            isTooLong = true
            return false
        }
        let isToken = !name.isEmpty && name.utf8.allSatisfy(Self.isTokenCharacter)
        let isVisible = value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
        guard isToken, isVisible, endsPlainly else {
            isMalformed = true
            return false
        }
        all.append((name.lowercased(), value))
        return true
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    static func text(_ pointer: UnsafePointer<CChar>?, _ size: Int) -> String {
        guard let pointer else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: pointer, count: size), as: UTF8.self)
    }
}
