import CMicroHTTPD
import Dispatch
import Synchronization

/// The callbacks of libmicrohttpd, which run on its threads. All unsafe code for them is here. Each pointer is retained when it is passed
/// to libmicrohttpd, and released when libmicrohttpd reports that it is done with it.
final class ServerCore: Sendable {
    let settings: ServerSettings
    let hosts: HostGuard
    let handler: any HTTPHandler
    let deadlines = Deadlines()
    let sleepers: Sleepers
    /// The memory for the bodies of requests in progress.
    let bodies: MemoryBudget
    /// The memory for finished responses that are not sent yet.
    let answers: MemoryBudget
    let streams: SharedPlaces
    /// The places of requests that wait for their responses.
    let waiting: SharedPlaces
    private let refused = Mutex((counts: [LoadBound: Int](), isReporting: false))
    private let senders = Mutex<[ObjectIdentifier: WeakSender]>([:])
    private let stopping = Atomic<Bool>(false)

    private struct WeakSender: Sendable { weak var sender: BodySender? }

    init(_ settings: ServerSettings, hosts: HostGuard, _ handler: any HTTPHandler) {
        (self.settings, self.hosts, self.handler) = (settings, hosts, handler)
        sleepers = Sleepers(maximum: settings.waitingRequests)
        streams = SharedPlaces(total: settings.streams, own: settings.streamsPerPayer)
        waiting = SharedPlaces(total: settings.waitingRequests, own: settings.waitingRequestsPerPayer)
        bodies = MemoryBudget(maximum: settings.bodyMemory)
        answers = MemoryBudget(maximum: settings.answerMemory)
    }

    /// Ends live streams and resumes every suspended connection, which libmicrohttpd requires before it stops.
    func wakeAll() {
        stopping.store(true, ordering: .releasing)
        sleepers.endDelays()
        for sender in senders.withLock({ $0.values.compactMap(\.sender) }) { sender.wake() }
    }

    /// Counts a request that was refused because its share of a bound was used up.
    func countRefusal(_ bound: LoadBound) {
        let isFirst = refused.withLock { refused in
            refused.counts[bound, default: 0] += 1
            defer { refused.isReporting = true }
            return !refused.isReporting
        }
        guard isFirst else { return }
        // Once a second, because there may be thousands.
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
            guard let self else { return }
            settings.onRefusal(
                refused.withLock { refused in
                    refused.isReporting = false
                    return refused.counts
                })
        }
    }

    /// The number of such requests and of connections closed for new ones.
    var refusals: [LoadBound: Int] { refused.withLock(\.counts) }

    /// Whether a stream is still being sent.
    var isAnswering: Bool { senders.withLock { $0.values.contains { $0.sender != nil } } }
    /// Whether a connection is suspended until its response is ready. libmicrohttpd cannot stop before that.
    var isAnswerAwaited: Bool { sleepers.count > 0 }

    // MARK: The callbacks

    static let accept: MHD_AcceptPolicyCallback = { context, address, _ in
        guard let settings = core(context)?.settings, settings.acceptsOnlyProxy else { return .YES }
        return address.map(Exchange.address) == settings.proxy ? .YES : .NO
    }

    static let begin:
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
            _, target, _ in
            Unmanaged.passRetained(Exchange(target: target.map { String(cString: $0) } ?? "")).toOpaque()
        }

    static let complete: MHD_RequestCompletedCallback = { context, connection, slot, _ in
        guard let core = core(context), let connection else { return }
        core.expectHead(connection)
        guard let pointer = slot?.pointee else { return }
        slot?.pointee = nil
        Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue().finish()
    }

    static let connect: MHD_NotifyConnectionCallback = { context, connection, _, code in
        guard let core = core(context), let connection else { return }
        guard code == .CONNECTION_NOTIFY_STARTED else { return core.deadlines.close(key(connection)) }
        core.deadlines.open(key(connection), from: Exchange.peer(of: connection))
        core.expectHead(connection)
        core.makeRoom()
    }

    static let handle: MHD_AccessHandlerCallback = { context, connection, _, method, _, bytes, size, slot in
        guard let core = core(context), let connection, let pointer = slot?.pointee, let size else { return .NO }
        let exchange = Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue()
        guard exchange.isBegun else {
            let isOver = exchange.begin(connection, method: method.map { String(cString: $0) } ?? "", core)
            if isOver { return core.answer(exchange, connection) }
            core.expectBody(exchange, connection)
            return .YES
        }
        if size.pointee > 0, let bytes {
            let isTaken = exchange.take(UnsafeRawBufferPointer(start: bytes, count: size.pointee))
            size.pointee = 0
            core.expectBody(exchange, connection)
            return isTaken ? .YES : .NO
        }
        core.deadlines.remove(key(connection))
        return core.answer(exchange, connection)
    }

    private static func core(_ context: UnsafeMutableRawPointer?) -> ServerCore? {
        context.map { Unmanaged<ServerCore>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func key(_ connection: OpaquePointer) -> UInt { UInt(bitPattern: connection) }

    private func expectHead(_ connection: OpaquePointer) {
        deadlines.set(Self.key(connection), in: settings.headTime, .hangUp(vitalgate_http_socket(connection)), isIdle: true)
    }

    /// Closes connections that wait for a request if there are too many, the oldest ones of the address with the most.
    private func makeRoom() {
        let count = deadlines.hangUpIdle(maximum: settings.connections * 3 / 4, perAddress: settings.connectionsPerAddress)
        for _ in 0..<count { countRefusal(.connections) }
    }

    /// Waits for the next part of a body, at most until the end of the time for all of it.
    private func expectBody(_ exchange: Exchange, _ connection: OpaquePointer) {
        let timeout = min(settings.bodyIdleTime, exchange.bodyTimeLeft(settings))
        deadlines.set(Self.key(connection), in: timeout, .hangUp(vitalgate_http_socket(connection)))
    }

    // MARK: Answers

    /// Responds, or suspends the connection until there is a response. libmicrohttpd calls again then.
    private func answer(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
        if exchange.answer == nil {
            if let queue = exchange.queue {
                let payer = exchange.payer
                exchange.waitingPlace = waiting.take(for: payer)
                if exchange.waitingPlace != nil,
                    sleepers.sleep(
                        exchange, connection,
                        { sleeper in
                            queue.async(for: payer) {
                                sleeper.wake {
                                    $0.makeAnswer(self)
                                    $0.waitingPlace = nil
                                }
                            }
                        })
                {
                    return .YES
                }
                exchange.refuse(
                    Problem(503, "Too many requests are waiting for a response. Try again.", bound: .requests))
            }
            exchange.makeAnswer(self)
        }
        if let delay = exchange.takeDelay(), sleepers.sleep(exchange, connection, for: delay) { return .YES }
        return queue(exchange, connection)
    }

    private func queue(_ exchange: Exchange, _ connection: OpaquePointer) -> MHD_Result {
        guard var response = exchange.answer else { return .NO }
        let isPacked = GzipStream.isAccepted(exchange.head?.header("accept-encoding"))
        guard let made = made(&response, exchange, connection, isPacked) else { return .NO }
        defer { MHD_destroy_response(made) }
        for (name, value) in response.headers { MHD_add_response_header(made, name, value) }
        // The policy would be valid for all ports of the host name (RFC 6797, section 8.3) and lock other services of the machine out of
        // the browser. The cookie is Secure, so the page does not need it. 0 removes a policy that an earlier version has set.
        if settings.identity != nil { MHD_add_response_header(made, "Strict-Transport-Security", "max-age=0") }
        return MHD_queue_response(connection, UInt32(response.status), made)
    }

    /// Bodies with fewer bytes are not compressed.
    private static let leastPacked = 1024

    private func made(
        _ response: inout HTTPResponse, _ exchange: Exchange, _ connection: OpaquePointer, _ isPacked: Bool
    ) -> OpaquePointer? {
        switch response.content {
        case .bytes(var bytes):
            if isPacked, bytes.count >= Self.leastPacked, let gzip = GzipStream() {
                bytes = gzip.packed(bytes, flushing: false) + gzip.finished()
                response.headers.append(("Content-Encoding", "gzip"))
                response.headers = response.headers.map { $0.name == "ETag" ? ($0.name, Answering.packed($0.value)) : $0 }
            }
            return bytes.withUnsafeMutableBytes {
                MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY)
            }
        case .stream(let stream):
            let gzip = isPacked ? GzipStream() : nil
            if gzip != nil { response.headers.append(("Content-Encoding", "gzip")) }
            let sender = BodySender(
                stream, gzip: gzip, connection: connection, deadlines: deadlines, settings,
                isStopping: { [weak self] in self?.stopping.load(ordering: .acquiring) ?? true })
            exchange.sends(by: sender)
            remember(sender)
            // The response retains the sender, because it can outlive the request.
            return MHD_create_response_from_callback(
                vitalgate_http_unknown, 32_768,
                { context, _, buffer, size in
                    guard let context, let buffer else { return vitalgate_http_failed }
                    return Unmanaged<BodySender>.fromOpaque(context).takeUnretainedValue().fill(buffer, size)
                }, Unmanaged.passRetained(sender).toOpaque(),
                { context in
                    guard let context else { return }
                    Unmanaged<BodySender>.fromOpaque(context).release()
                })
        }
    }

    private func remember(_ sender: BodySender) {
        senders.withLock { senders in
            senders = senders.filter { $0.value.sender != nil }
            senders[ObjectIdentifier(sender)] = WeakSender(sender: sender)
        }
    }
}
