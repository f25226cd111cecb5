import ExportTesting
import FleetProtocol
import FoundationEssentials
import Glibc
import HealthModel
import NATSKit
import Pipeline
import Testing

@testable import FleetExport

/// A broker that reads its list of users again, as after each hub that joins.
@Suite struct BrokerReloadTests {
    private let test: ExportedStore
    private let broker: NATSServer
    private let settings: FleetSettings

    init() throws {
        test = try ExportedStore()
        let key = try #require(NKey.random())
        broker = try NATSServer([
            "pid_file: \"\(test.folder.file("pid"))\"", "authorization { users: [{ nkey: \"\(key.publicText)\" }] }",
        ])
        let seed = test.folder.file("seed")
        try Data(key.seedText.utf8).write(to: URL(filePath: seed))
        chmod(seed, 0o600)
        var settings = FleetSettings(servers: [broker.url], subject: try #require(FleetSubject(fleet: "study")))
        (settings.key, settings.seedFile) = (key.publicText, seed)
        self.settings = settings
    }

    /// The kind of the error of a hub's request. There is no collector.
    private func kind(_ settings: FleetSettings) throws -> DeliveryError.Kind? {
        let context = try ExportContext(
            name: "other", store: test.store.identifier, me: test.store.owner, now: { ExportedStore.received })
        do throws(DeliveryError) {
            _ = try FleetExporter(settings, context: context).found()
            return nil
        } catch {
            return error.kind
        }
    }

    /// A refusal in the moment in which the broker reads its users does not stop the delivery until a user acts.
    @Test func connectingDuringReloadIsRetried() throws {
        let text = try String(decoding: Data(contentsOf: URL(filePath: test.folder.file("pid"))), as: UTF8.self)
        let process = try #require(Int32(text.filter(\.isNumber)))
        for pause in 0..<100 as Range<UInt32> {
            kill(process, SIGHUP)
            usleep(pause * 50)
            #expect(try kind(settings) == .unreachable)
        }
    }

    @Test func wrongKeysStayRefused() throws {
        let other = try #require(NKey.random())
        var settings = settings
        settings.key = other.publicText
        #expect(try kind(settings) == .unauthorised)
    }
}
