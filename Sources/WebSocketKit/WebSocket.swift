import CWslay
import Glibc
import HTTPClientKit

/// A WebSocket client (RFC 6455) for text messages.
///
///     let socket = try WebSocket("http://localhost:8123/api/websocket")
///     try socket.send(Array(#"{"type":"ping"}"#.utf8))
///     let answer = try socket.receive(within: .seconds(30))
///
/// libcurl connects and encrypts, and libwslay, which does no input or output, makes and reads the frames. Pings are answered
/// while ``receive(within:)`` waits. After 20 seconds without a byte it sends a ping, and after 60 seconds the connection counts
/// as dead. Use it from one thread.
package final class WebSocket {
    /// The maximum lengths of messages in bytes.
    package struct Limits: Sendable {
        /// A longer message that is received closes the connection with the code 1009.
        package var received: Int
        /// A longer message is not sent.
        package var sent: Int

        package init(received: Int = 32 << 20, sent: Int = 4 << 20) { (self.received, self.sent) = (received, sent) }
    }

    /// The state that libwslay's callbacks reach.
    private final class State {
        let stream: ByteStream
        /// Bytes after the head of the handshake's response.
        var early: [UInt8] = []
        var messages: [[UInt8]] = []
        var closeCode: Int?
        var failure: HTTPFailure?
        var lastArrival = ContinuousClock.now

        init(_ stream: ByteStream) { self.stream = stream }
    }

    /// After this time without a byte, a ping is sent.
    private static let pingDelay = Duration.seconds(20)
    /// After this time without a byte, the connection is dead.
    private static let silence = Duration.seconds(60)
    /// How long sending may take.
    private static let sendTimeout = Duration.seconds(30)
    /// How long the peer's answer to a close is awaited.
    private static let closeTimeout = Duration.seconds(2)

    private let limits: Limits
    private let state: State
    private let context: wslay_event_context_ptr
    private var pinged: ContinuousClock.Instant?

    /// Connects and makes the handshake.
    ///
    /// - Parameters:
    ///   - url: An address with a path that begins with `http://` or `https://`, instead of `ws://` or `wss://`.
    ///   - certificateAuthority: The path of the accepted CA certificates, or `nil` for those of the system.
    ///   - timeout: The time for the handshake.
    /// - Throws: ``WebSocketError``.
    package init(
        _ url: String, certificateAuthority: String? = nil, limits: Limits = Limits(), timeout: Duration = .seconds(15)
    ) throws(WebSocketError) {
        self.limits = limits
        do throws(HTTPFailure) {
            state = State(try ByteStream(url, certificateAuthority: certificateAuthority))
        } catch {
            throw WebSocketError(error)
        }
        state.early = try Handshake(url).perform(over: state.stream, within: timeout)
        var callbacks = wslay_event_callbacks()
        callbacks.recv_callback = { context, buffer, length, _, pointer in WebSocket.read(context, buffer, length, pointer) }
        callbacks.send_callback = { context, bytes, length, _, pointer in WebSocket.write(context, bytes, length, pointer) }
        callbacks.genmask_callback = { _, buffer, length, _ in
            // RFC 6455, section 5.3: a mask must be unpredictable.
            var generator = SystemRandomNumberGenerator()
            for index in 0..<length { buffer?[index] = UInt8.random(in: 0...255, using: &generator) }
            return 0
        }
        callbacks.on_msg_recv_callback = { _, message, pointer in WebSocket.received(message, pointer) }
        var context: wslay_event_context_ptr?
        let result = wslay_event_context_client_init(&context, &callbacks, Unmanaged.passUnretained(state).toOpaque())
        guard result == 0, let context else { throw WebSocketError(.unreachable, "libwslay cannot be used") }
        self.context = context
        wslay_event_config_set_max_recv_msg_length(context, UInt64(limits.received))
    }

    deinit { wslay_event_context_free(context) }

    // MARK: libwslay's callbacks

    private static func read(
        _ context: wslay_event_context_ptr?, _ buffer: UnsafeMutablePointer<UInt8>?, _ length: Int,
        _ pointer: UnsafeMutableRawPointer?
    ) -> Int {
        guard let buffer, let pointer else { return -1 }
        let state = Unmanaged<State>.fromOpaque(pointer).takeUnretainedValue()
        if !state.early.isEmpty {
            let count = min(length, state.early.count)
            for index in 0..<count { buffer[index] = state.early[index] }
            state.early.removeFirst(count)
            return count
        }
        do throws(HTTPFailure) {
            guard let count = try state.stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: length)) else {
                wslay_event_set_error(context, Int32(WSLAY_ERR_WOULDBLOCK.rawValue))
                return -1
            }
            if count > 0 {
                state.lastArrival = .now
                return count
            }
            // The end of the connection without a close frame.
            state.closeCode = state.closeCode ?? 1006
        } catch {
            state.failure = error
        }
        wslay_event_set_error(context, Int32(WSLAY_ERR_CALLBACK_FAILURE.rawValue))
        return -1
    }

    private static func write(
        _ context: wslay_event_context_ptr?, _ bytes: UnsafePointer<UInt8>?, _ length: Int, _ pointer: UnsafeMutableRawPointer?
    ) -> Int {
        guard let bytes, let pointer else { return -1 }
        let state = Unmanaged<State>.fromOpaque(pointer).takeUnretainedValue()
        do throws(HTTPFailure) {
            if let count = try state.stream.write(UnsafeRawBufferPointer(start: bytes, count: length)) { return count }
            wslay_event_set_error(context, Int32(WSLAY_ERR_WOULDBLOCK.rawValue))
        } catch {
            state.failure = error
            wslay_event_set_error(context, Int32(WSLAY_ERR_CALLBACK_FAILURE.rawValue))
        }
        return -1
    }

    private static func received(_ message: UnsafePointer<wslay_event_on_msg_recv_arg>?, _ pointer: UnsafeMutableRawPointer?) {
        guard let message = message?.pointee, let pointer else { return }
        let state = Unmanaged<State>.fromOpaque(pointer).takeUnretainedValue()
        switch UInt32(message.opcode) {
        case WSLAY_TEXT_FRAME.rawValue, WSLAY_BINARY_FRAME.rawValue:
            state.messages.append(Array(UnsafeBufferPointer(start: message.msg, count: message.msg_length)))
        case WSLAY_CONNECTION_CLOSE.rawValue: state.closeCode = message.status_code == 0 ? 1005 : Int(message.status_code)
        default: break
        }
    }

    // MARK: Messages

    /// Sends a text message. Meanwhile, received messages are queued.
    ///
    /// - Throws: ``WebSocketError`` if the message is longer than the limit, or not sent in 30 seconds.
    package func send(_ text: [UInt8]) throws(WebSocketError) {
        guard text.count <= limits.sent else { throw WebSocketError(.tooLong, "a message of \(text.count) bytes is too long") }
        try queue(text, WSLAY_TEXT_FRAME)
        try flush(within: Self.sendTimeout)
    }

    /// Returns the next message, or `nil` if none arrives in time.
    ///
    /// - Parameter signal: A descriptor that ends the wait when it is readable.
    /// - Throws: ``WebSocketError`` if the connection ended.
    package func receive(within duration: Duration, or signal: Int32? = nil) throws(WebSocketError) -> [UInt8]? {
        let end = ContinuousClock.now + duration
        while true {
            if !state.messages.isEmpty { return state.messages.removeFirst() }
            do throws(WebSocketError) {
                try pump()
                if state.messages.isEmpty { try checkIsOpen() }
            } catch {
                // The last message may arrive together with the end of the connection.
                if state.messages.isEmpty { throw error }
            }
            if !state.messages.isEmpty { continue }
            let now = ContinuousClock.now
            guard now < end else { return nil }
            let silence = now - state.lastArrival
            guard silence < Self.silence else { throw WebSocketError(.unreachable, "the server is silent") }
            if silence >= Self.pingDelay, pinged.map({ $0 < state.lastArrival }) ?? true {
                pinged = now
                try queue([], WSLAY_PING)
                try flush(within: Self.sendTimeout)
            }
            let next = silence < Self.pingDelay ? Self.pingDelay - silence : Self.silence - silence
            if state.stream.wait(.readable, upTo: min(end - now, next), or: signal) { return nil }
        }
    }

    /// Closes the connection with the code 1000.
    package func close() {
        guard wslay_event_queue_close(context, 1000, nil, 0) == 0 else { return }
        let end = ContinuousClock.now + Self.closeTimeout
        do throws(WebSocketError) {
            try flush(within: Self.closeTimeout)
            while wslay_event_get_close_received(context) == 0, ContinuousClock.now < end {
                try pump()
                state.stream.wait(.readable, upTo: end - .now)
            }
        } catch {}
    }

    private func queue(_ bytes: [UInt8], _ opcode: wslay_opcode) throws(WebSocketError) {
        let result = bytes.withUnsafeBufferPointer { buffer in
            var message = wslay_event_msg(opcode: UInt8(opcode.rawValue), msg: buffer.baseAddress, msg_length: buffer.count)
            return wslay_event_queue_msg(context, &message)
        }
        guard result == 0 else {
            try checkIsOpen()
            throw WebSocketError(.unreachable, "the connection is closed")
        }
    }

    /// Sends what is queued.
    private func flush(within duration: Duration) throws(WebSocketError) {
        let end = ContinuousClock.now + duration
        while wslay_event_want_write(context) != 0 {
            guard wslay_event_send(context) == 0 else { throw failure("the connection broke") }
            guard wslay_event_want_write(context) != 0 else { return }
            // A server that waits for us to read does not read either.
            try pump()
            try checkIsOpen()
            guard ContinuousClock.now < end else { throw WebSocketError(.unreachable, "the server does not read") }
            state.stream.wait(.writable, upTo: .milliseconds(100))
        }
    }

    /// Reads what has arrived, and answers pings and closes.
    private func pump() throws(WebSocketError) {
        if wslay_event_want_read(context) != 0 {
            let result = wslay_event_recv(context)
            guard result == 0 else { throw failure("the connection broke") }
        }
        if wslay_event_want_write(context) != 0 {
            guard wslay_event_send(context) == 0 else { throw failure("the connection broke") }
        }
    }

    private func checkIsOpen() throws(WebSocketError) {
        if wslay_event_get_close_received(context) != 0 || state.closeCode != nil {
            let code = state.closeCode ?? 1005
            throw WebSocketError(.closed(code), "the server closed the connection (code \(code))")
        }
        // libwslay stops reading after a violation and closes with the matching code.
        if wslay_event_get_read_enabled(context) == 0 {
            let code = Int(wslay_event_get_status_code_sent(context))
            if code == 1009 {
                throw WebSocketError(.tooLong, "the server sent a message of more than \(limits.received) bytes")
            }
            throw WebSocketError(.invalid, "the server violates the WebSocket protocol")
        }
    }

    private func failure(_ text: String) -> WebSocketError {
        if let failure = state.failure { return WebSocketError(failure) }
        if let code = state.closeCode { return WebSocketError(.closed(code), "the server closed the connection (code \(code))") }
        return WebSocketError(.unreachable, text)
    }
}
