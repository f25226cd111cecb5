import FleetCollector
import HTTPServerKit
import HealthPage
import Hub

/// Serves the page of a fleet's center.
enum CenterPage {
    /// Starts the server, or returns `nil` if no page is configured.
    ///
    /// - Throws: ``ConfigurationError`` if the page's files are missing, or ``ServerError`` if the address is not available.
    static func start(_ settings: CollectorConfiguration) throws -> HTTPServer? {
        guard let page = settings.page else { return nil }
        guard let folder = PageFolder.find(executable: ProfileFolders.executable()) else {
            throw ConfigurationError("'collect.page' needs the folder WebPage, which is not installed")
        }
        var server = ServerSettings(listening: page.listen)
        server.hosts = page.hosts
        server.hostsKey = "collect.page.hosts"
        // An address that other machines can reach was given on purpose. The page has no secrets.
        server.allowsPlain = true
        let database = settings.database
        return try HTTPServer(
            server,
            FleetPage(try PageFiles(folder: folder), fleet: settings.broker.subject.fleet) {
                try FleetDatabase(database).hubs().map(FleetRow.init)
            })
    }
}

extension FleetRow {
    fileprivate init(_ hub: EnrolledHub) {
        self.init(name: hub.name, state: State(rawValue: FleetReport.state(hub)) ?? .enrolled)
        (silence, waiting, quarantined) = (hub.silence, hub.waiting, hub.quarantined)
        (battery, silentDevices, version, orders) = (hub.lowestBattery, hub.silentDevices, hub.version, hub.openOrders)
    }
}
