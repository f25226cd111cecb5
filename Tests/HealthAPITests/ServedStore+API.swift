import HealthModel
import HealthServing
import HealthServingTesting
import SampleStore
import Testing

@testable import HealthAPI

extension ServedStore {
    /// A store whose API is served.
    convenience init(_ change: (inout ServiceSettings) -> Void = { _ in }) throws {
        try self.init(sites: { [try APISite($0)] }, change)
    }

    var api: APISite { get throws { try #require(sites.first as? APISite) } }

    /// The lines of a query, as the watch is given them.
    func stream(_ reader: Reader, _ query: SampleQuery) throws -> SampleStream {
        try SampleStream(
            reader, query, ObjectWriter(form: .ndjson, me: Self.person, unit: nil), try api.grants,
            Caller(client: watch, token: token))
    }
}
