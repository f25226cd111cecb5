import HTTPServerKit
import HealthModel
import SampleStore

/// What a phone posted: a file in the format of an app.
public struct IntakePost: Sendable {
    /// The client of the phone.
    public let client: Client
    /// The format, which is the last part of the path.
    public let kind: String
    /// The path of the file. It exists until the post is answered.
    public let file: String
    /// The header with the length of the periods, if the app sent one.
    public let grouping: String?

    /// Creates a post.
    public init(client: Client, kind: String, file: String, grouping: String?) {
        (self.client, self.kind, self.file, self.grouping) = (client, kind, file, grouping)
    }
}
