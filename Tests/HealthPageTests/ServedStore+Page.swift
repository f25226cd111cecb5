import HTTPServerKit
import HealthServing
import HealthServingTesting
import Testing

@testable import HealthAPI
@testable import HealthPage

extension ServedStore {
    /// A store whose page and API are served.
    convenience init(page change: (inout PageSettings) -> Void = { _ in }) throws {
        var settings = PageSettings(files: try PageFiles(folder: PageTests.folder))
        change(&settings)
        let page = settings
        try self.init(sites: { [PageSite($0, page), try APISite($0)] })
    }

    /// The queue of the API's slow reads.
    var lookQueue: FairQueue { get throws { try #require(sites.last as? APISite).lookQueue } }
}
