import CNATS
import Glibc

/// A connection to a NATS broker or to a cluster of them.
///
/// The library (nats.c) has its own threads for it, so any thread may use it.
package final class NATSConnection: @unchecked Sendable {
    /// What happens when the connection breaks.
    package enum Persistence: Sendable {
        /// Every request fails from then on. The caller connects again when it chooses.
        case once
        /// The library reconnects, and subscriptions continue. It also waits for a broker that is not there yet.
        case forever
    }

    private let handle: OpaquePointer
    /// The seed that signs the broker's challenges, or `nil` if a file has it.
    private let seed: UnsafeMutablePointer<CChar>?
    /// The beginning of the subjects of replies.
    private let replies: String

    private static let connectMilliseconds: Int64 = 10_000

    /// Connects.
    ///
    /// - Throws: ``NATSError``. With ``Persistence/forever`` only invalid settings and refused credentials are errors.
    package init(_ settings: NATSSettings, _ persistence: Persistence) throws(NATSError) {
        replies = settings.replies ?? "_INBOX"
        var seed: UnsafeMutablePointer<CChar>?
        if case .seed(_, let text) = settings.credentials { seed = strdup(text) }
        do throws(NATSError) {
            handle = try Self.connected(settings, persistence, seed)
            self.seed = seed
        } catch {
            free(seed)
            throw error
        }
    }

    deinit {
        natsConnection_Destroy(handle)
        free(seed)
    }

    /// The number of refusals after which the credentials count as wrong.
    private static let connectionCount = 8
    /// The pause between two of them, in microseconds.
    private static let signInPause: UInt32 = 250_000

    /// A connection that is not renewed (``Persistence/once``).
    ///
    /// A broker that reads its list of users refuses the clients that sign in at the same moment, so a refusal counts only if it repeats.
    package static func signedIn(_ settings: NATSSettings) throws(NATSError) -> NATSConnection {
        for _ in 1..<connectionCount {
            do throws(NATSError) {
                return try NATSConnection(settings, .once)
            } catch {
                guard error.kind == .unauthorised else { throw error }
                usleep(signInPause)
            }
        }
        return try NATSConnection(settings, .once)
    }

    private static func connected(
        _ settings: NATSSettings, _ persistence: Persistence, _ seed: UnsafeMutablePointer<CChar>?
    ) throws(NATSError) -> OpaquePointer {
        var options: OpaquePointer?
        try NATSError.check(natsOptions_Create(&options))
        defer { natsOptions_Destroy(options) }
        try configure(options, settings, persistence, seed)
        var handle: OpaquePointer?
        var status = NATS_OK
        for _ in 0..<connectionCount {
            status = natsConnection_Connect(&handle, options)
            // nats.c accepts only PONG after CONNECT. A broker that has just read new users, or found another one, sends INFO first.
            guard status == NATS_PROTOCOL_ERROR else { break }
            natsConnection_Destroy(handle)
            handle = nil
        }
        guard let handle, status == NATS_OK || (persistence == .forever && status == NATS_NOT_YET_CONNECTED) else {
            natsConnection_Destroy(handle)
            throw NATSError(status)
        }
        return handle
    }

    private static func configure(
        _ options: OpaquePointer?, _ settings: NATSSettings, _ persistence: Persistence, _ seed: UnsafeMutablePointer<CChar>?
    ) throws(NATSError) {
        var servers = settings.servers.map { strdup($0) }
        defer { for server in servers { free(server) } }
        let status = servers.withUnsafeMutableBufferPointer { buffer in
            buffer.withMemoryRebound(to: UnsafePointer<CChar>?.self) {
                natsOptions_SetServers(options, $0.baseAddress, Int32($0.count))
            }
        }
        try NATSError.check(status)
        try NATSError.check(natsOptions_SetName(options, settings.name))
        try NATSError.check(natsOptions_SetTimeout(options, connectMilliseconds))
        // By default a thread of the library sends what has come up in a millisecond. Each message here is awaited by somebody.
        try NATSError.check(natsOptions_SetSendAsap(options, true))
        if let prefix = settings.replies { try NATSError.check(natsOptions_SetCustomInboxPrefix(options, prefix)) }
        if settings.servers.contains(where: { $0.hasPrefix("tls://") }) {
            try NATSError.check(natsOptions_SetSecure(options, true))
        }
        if let path = settings.certificateAuthority {
            // The library says only that TLS has failed.
            guard natsOptions_LoadCATrustedCertificates(options, path) == NATS_OK else {
                throw NATSError(.invalid, "\(path) is missing, cannot be read, or contains no certificate")
            }
        }
        switch settings.credentials {
        case .none: break
        case .password(let user, let password): try NATSError.check(natsOptions_SetUserInfo(options, user, password))
        case .key(let name, let file): try NATSError.check(natsOptions_SetNKeyFromSeed(options, name, file))
        case .seed(let name, _):
            let sign: natsSignatureHandler = { _, signature, length, challenge, seed in
                nats_Sign(seed?.assumingMemoryBound(to: CChar.self), challenge, signature, length)
            }
            try NATSError.check(natsOptions_SetNKey(options, name, sign, seed))
        case .file(let path): try NATSError.check(natsOptions_SetUserCredentialsFromFiles(options, path, nil))
        }
        switch persistence {
        case .once: try NATSError.check(natsOptions_SetAllowReconnect(options, false))
        case .forever:
            try NATSError.check(natsOptions_SetMaxReconnect(options, -1))
            // Connected clients must not all come back in the same moment. nats.c adds up to a second.
            try NATSError.check(natsOptions_SetReconnectWait(options, 1000))
            try NATSError.check(natsOptions_SetReconnectJitter(options, 1000, 1000))
            try NATSError.check(natsOptions_SetRetryOnFailedConnect(options, true, nil, nil))
        }
    }

    /// The longest message that the broker takes, in bytes.
    package var maximumMessageLength: Int { Int(natsConnection_GetMaxPayload(handle)) }

    /// Sends a request and waits for the reply.
    package func request(_ subject: String, _ bytes: [UInt8], milliseconds: Int) throws(NATSError) -> [UInt8] {
        var reply: OpaquePointer?
        let status = bytes.withUnsafeBytes {
            natsConnection_Request(&reply, handle, subject, $0.baseAddress, Int32($0.count), Int64(milliseconds))
        }
        try NATSError.check(status)
        defer { natsMsg_Destroy(reply) }
        return NATSMessage.bytes(of: reply)
    }

    /// Sends a request whose reply is awaited later.
    package func send(_ subject: String, _ bytes: [UInt8]) throws(NATSError) -> NATSPendingReply {
        let reply = "\(replies).\(Self.token())"
        let subscription = try subscription(reply)
        try NATSError.check(
            bytes.withUnsafeBytes { natsConnection_PublishRequest(handle, subject, reply, $0.baseAddress, Int32($0.count)) })
        return NATSPendingReply(subscription)
    }

    /// A text that no other request of any client has.
    private static func token() -> String {
        (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    }

    package func publish(_ subject: String, _ bytes: [UInt8]) throws(NATSError) {
        try NATSError.check(
            bytes.withUnsafeBytes { natsConnection_Publish(handle, subject, $0.baseAddress, Int32($0.count)) })
    }

    /// Waits until the broker has everything that was sent before.
    package func flush(milliseconds: Int) throws(NATSError) {
        try NATSError.check(natsConnection_FlushTimeout(handle, Int64(milliseconds)))
    }

    /// Subscribes. Every subscriber gets each message.
    package func subscription(_ subject: String) throws(NATSError) -> NATSSubscription {
        var subscription: OpaquePointer?
        try NATSError.check(natsConnection_SubscribeSync(&subscription, handle, subject))
        guard let subscription else { throw NATSError(NATS_NO_MEMORY) }
        return NATSSubscription(subscription, of: self)
    }

    /// Subscribes as a member of a group. The broker passes each message to one member.
    package func subscription(_ subject: String, group: String) throws(NATSError) -> NATSSubscription {
        var subscription: OpaquePointer?
        try NATSError.check(natsConnection_QueueSubscribeSync(&subscription, handle, subject, group))
        guard let subscription else { throw NATSError(NATS_NO_MEMORY) }
        return NATSSubscription(subscription, of: self)
    }
}

/// A subscription whose messages are taken one at a time. Any number of threads may wait for them.
package final class NATSSubscription: @unchecked Sendable {
    private let handle: OpaquePointer
    private let connection: NATSConnection

    fileprivate init(_ handle: OpaquePointer, of connection: NATSConnection) {
        (self.handle, self.connection) = (handle, connection)
    }

    deinit { natsSubscription_Destroy(handle) }

    /// Waits for the next message. Returns `nil` once the subscription has ended.
    package func next() -> NATSMessage? {
        while true {
            var message: OpaquePointer?
            // A day: the library has no endless wait.
            switch natsSubscription_NextMsg(&message, handle, 86_400_000) {
            case NATS_OK:
                defer { natsMsg_Destroy(message) }
                return NATSMessage(message)
            case NATS_TIMEOUT, NATS_CONNECTION_DISCONNECTED, NATS_SLOW_CONSUMER: continue
            default: return nil
            }
        }
    }

    /// Returns the next message if it has arrived already, or `nil`.
    package func arrived() -> NATSMessage? {
        var message: OpaquePointer?
        guard natsSubscription_NextMsg(&message, handle, 0) == NATS_OK else { return nil }
        defer { natsMsg_Destroy(message) }
        return NATSMessage(message)
    }

    fileprivate func reply(milliseconds: Int64) throws(NATSError) -> [UInt8] {
        var message: OpaquePointer?
        try NATSError.check(natsSubscription_NextMsg(&message, handle, milliseconds))
        defer { natsMsg_Destroy(message) }
        return NATSMessage.bytes(of: message)
    }

    /// Ends the subscription. Messages that have arrived are still returned by ``next()``.
    package func end() { natsSubscription_Drain(handle) }
}

/// The reply to a request that was sent (``NATSConnection/send(_:_:)``).
package final class NATSPendingReply {
    private let subscription: NATSSubscription
    private let sent = ContinuousClock.now

    fileprivate init(_ subscription: NATSSubscription) { self.subscription = subscription }

    /// Waits for the reply.
    ///
    /// - Parameter milliseconds: The maximum time since the request.
    package func bytes(milliseconds: Int) throws(NATSError) -> [UInt8] {
        let end = sent + .milliseconds(milliseconds)
        return try subscription.reply(milliseconds: max(1, Int64((end - .now) / .milliseconds(1))))
    }
}

package struct NATSMessage: Sendable {
    package var subject: String
    /// The subject for the reply, or `nil` if none is expected.
    package var reply: String?
    package var bytes: [UInt8]

    fileprivate init(_ message: OpaquePointer?) {
        subject = natsMsg_GetSubject(message).map { String(cString: $0) } ?? ""
        reply = natsMsg_GetReply(message).map { String(cString: $0) }
        bytes = Self.bytes(of: message)
    }

    fileprivate static func bytes(of message: OpaquePointer?) -> [UInt8] {
        let count = Int(natsMsg_GetDataLength(message))
        guard count > 0, let data = natsMsg_GetData(message) else { return [] }
        return Array(UnsafeRawBufferPointer(start: data, count: count))
    }
}
