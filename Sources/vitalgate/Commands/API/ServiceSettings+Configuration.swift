import EventLoopKit
import HTTPServerKit
import HealthPage
import HealthServing
import Hub
import Ingestion

extension ServiceSettings {
    /// The settings from the configuration, or `nil` if it has no API section.
    ///
    /// - Throws: ``ConfigurationError`` if one of its files cannot be read.
    static func configured(_ context: CommandContext) throws -> ServiceSettings? {
        let configuration = try context.configuration()
        guard let api = configuration.api else { return nil }
        let server = try ServerSettings(api, section: "api")
        let machine = context.machine
        let hurry = Hurry(PromptCommits(store: configuration.store, machine: machine))
        var settings = ServiceSettings(
            store: configuration.store, server: server, zone: try context.zone(),
            zones: { try? machine.zone(ZoneName($0, from: .option)) }, priority: configuration.priority,
            now: { machine.now() })
        settings.following = { hurry.follow($0) }
        let intake = IntakeService(store: configuration.store, zone: settings.zone, now: settings.now)
        settings.intake = { post in
            do {
                return try intake.run(post.kind, file: post.file, grouping: post.grouping, by: post.client)
            } catch let failure as IntakeService.Failure {
                throw problem(failure)
            }
        }
        return settings
    }

    private static func problem(_ failure: IntakeService.Failure) -> Problem {
        switch failure {
        case .unknownKind: Problem(404, "Path not found.")
        case .malformed(let reason): Problem(422, "The body cannot be read, and nothing was stored: \(reason)")
        case .notGranted: Problem(403, "The client may write nothing. See 'vitalgate clients grant'.")
        case .notAPhone: Problem(403, "Only a phone may post here. Add it with 'vitalgate phones add'.")
        case .severalPeople: Problem(403, "The client may write for several people, so it is not clear whose data this is.")
        case .grantsChanged: Problem(503, "What the client may write has changed. Try again.", headers: ["Retry-After": "1"])
        }
    }

    /// Makes the hub commit every second while there are live listeners.
    private final class Hurry: @unchecked Sendable {
        // Calls are serial.
        private let commits: PromptCommits
        init(_ commits: PromptCommits) { self.commits = commits }
        func follow(_ isFollowed: Bool) { if isFollowed { commits.reconnectIfNeeded() } else { commits.rest() } }
    }
}

extension ServerSettings {
    /// The settings from the configuration.
    ///
    /// - Parameter section: The key of the configuration, for messages.
    /// - Throws: ``ConfigurationError`` if one of its files cannot be read.
    init(_ configured: APIConfiguration, section: String) throws(ConfigurationError) {
        self.init(listening: configured.listen)
        hosts = configured.hosts
        allowsPlain = configured.isPlain
        proxy = configured.proxy
        acceptsOnlyProxy = configured.acceptsOnlyProxy
        if let certificate = configured.certificate, let key = configured.key {
            identity = (try Self.text(of: certificate, section), try Self.text(of: key, section))
        }
        // The time is short because the hub's loop waits for it.
        drainTime = .seconds(1)
    }

    private static func text(of path: String, _ section: String) throws(ConfigurationError) -> String {
        guard let bytes = SmallFile.read(path, limit: 1 << 20) else {
            throw ConfigurationError("\(section): \(path) cannot be read")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension PageSettings {
    /// The settings from the configuration, or `nil` if the page's files are missing. The API is then served without the page.
    ///
    /// - Throws: `PageFilesError` if one of the files cannot be read.
    static func configured(_ context: CommandContext) throws -> PageSettings? {
        guard let folder = PageFolder.find(executable: ProfileFolders.executable()) else { return nil }
        let configuration = try context.configuration()
        var settings = PageSettings(files: try PageFiles(folder: folder))
        settings.hub = .own(context, configuration)
        settings.pressureGuideline = configuration.page.bloodPressure
        settings.tiles = configuration.page.tiles
        settings.units = { configuration.unit(of: $0) }
        settings.onWrongCode = { address in
            context.log(
                SourceNotice(
                    .warning, "api", "wrong page code from \(address.isEmpty ? "a local program" : address)"),
                isVerbose: false)
        }
        return settings
    }
}
