import FleetProtocol
import NATSKit
import Synchronization

/// A request as it has arrived. It is opened and read once, by the first thread that needs it.
final class ArrivedRequest: Sendable {
    /// A request that was opened.
    struct Opened: Sendable {
        let request: ReceivedRequest
        /// The seal of the reply, or `nil` if the reply is not sealed either.
        let seal: ReplySeal?
    }

    private let message: NATSMessage
    /// The subject of the reply.
    let subject: String
    private let store: String
    private let opener: RequestOpener
    private let opened = Mutex<Result<Opened, SealFault>?>(nil)

    init(_ message: NATSMessage, subject: String, of store: String, _ opener: RequestOpener) {
        (self.message, self.subject, self.store, self.opener) = (message, subject, store, opener)
    }

    /// Opens and reads the request. Other threads wait.
    @discardableResult func read() -> Result<Opened, SealFault> {
        opened.withLock { opened in
            if let opened { return opened }
            let result = Result { () throws(SealFault) in
                let parts = try opener.opened(message.bytes, from: store)
                return Opened(
                    request: ReceivedRequest(bytes: parts.bytes, store: store, sender: parts.sender), seal: parts.reply)
            }
            opened = result
            return result
        }
    }
}
