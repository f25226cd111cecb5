import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One server-sent event.
struct Event: Sendable {
    var name = ""
    var id = ""
    var data = ""
}

/// Changes as they happen: the events of a request, as their octets come. The first one has no name, and says that the hub listens.
final class ChangeStream: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let continuation: AsyncThrowingStream<Event, any Error>.Continuation
    /// Octets of a line that has not ended; used on the session's own queue.
    private var rest = Data()
    private var event = Event()

    /// It ends with an error where the line breaks: then ask again with the last event's id as `Last-Event-ID`.
    static func events(of request: URLRequest) -> AsyncThrowingStream<Event, any Error> {
        AsyncThrowingStream { continuation in
            let session = URLSession(configuration: .default, delegate: ChangeStream(continuation), delegateQueue: nil)
            let task = session.dataTask(with: request)
            continuation.onTermination = { _ in session.invalidateAndCancel() }
            task.resume()
        }
    }

    private init(_ continuation: AsyncThrowingStream<Event, any Error>.Continuation) { self.continuation = continuation }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if let status = (dataTask.response as? HTTPURLResponse)?.statusCode, status != 200 {
            continuation.finish(throwing: Vitalgate.Problem(detail: "the stream is refused with \(status)"))
            return
        }
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            take(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
            rest = rest[rest.index(after: end)...]
        }
    }

    private func take(_ line: String) {
        guard !line.isEmpty else {
            // A heartbeat has no id.
            if !event.id.isEmpty { continuation.yield(event) }
            event = Event()
            return
        }
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { return }
        let value = String(parts[1].drop { $0 == " " })
        switch parts[0] {
        case "event": event.name = value
        case "id": event.id = value
        case "data": event.data += value
        default: break
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        continuation.finish(throwing: error)
    }
}
