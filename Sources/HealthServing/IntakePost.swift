import HTTPServerKit
import HealthModel
import SampleStore

/// What a phone posted: a file in the format of an app.
package struct IntakePost: Sendable {
    package let client: Client
    /// The format, which is the last part of the path.
    package let kind: String
    /// The path of the file. It exists until the post is answered.
    package let file: String
    /// The header with the length of the periods, if the app sent one.
    package let grouping: String?

    package init(client: Client, kind: String, file: String, grouping: String?) {
        (self.client, self.kind, self.file, self.grouping) = (client, kind, file, grouping)
    }
}
