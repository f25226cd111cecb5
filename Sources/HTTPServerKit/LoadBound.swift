/// A limit of the server that several users share. See the table of shares in `docs/explanation/security.md`.
package enum LoadBound: String, CaseIterable, Hashable, Sendable {
    /// Connections. The oldest idle ones are closed.
    case connections
    /// Requests that wait for their responses.
    case requests
    /// Memory for the bodies of requests.
    case bodies
    /// Memory for responses that have not been read.
    case responses
    case streams
    case readers
    /// Uploads that wait or run.
    case uploads
    /// Disk space for uploads.
    case disk
}
