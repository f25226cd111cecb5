import CommandLineKit
import CryptographyKit
import EventLoopKit
import FileExport
import Glibc
import HTTPServerKit
import HealthModel
import HealthPage
import Hub
import Pipeline
import Profiles
import SampleStore

/// The program, with its commands and the handling of their errors.
enum Program {
    static let version = "0.1.0"

    /// All commands below the headings of the help. Help, completion and manual page are generated from the same declarations.
    static var commandGroups: [(title: String, commands: [any Command.Type])] {
        [
            (
                "Most used",
                [
                    ImportCommand.self, QueryCommand.self, StatsCommand.self, TodayCommand.self, ShowCommand.self,
                    ExportCommand.self,
                    DevicesCommand.self, StatusCommand.self, DoctorCommand.self, RunCommand.self,
                ]
            ),
            (
                "Data",
                [
                    AddCommand.self, DeleteCommand.self, DeletedCommand.self, RestoreCommand.self, ChangesCommand.self,
                    RingsCommand.self,
                    MedicationsCommand.self,
                    TypesCommand.self, UnitCommand.self,
                ]
            ),
            ("Devices", [ScanCommand.self, DecodeCommand.self, CaptureCommand.self, ReplayCommand.self, ProfileCommand.self]),
            (
                "Quality",
                [
                    RepairCommand.self, QuarantineCommand.self, LedgerCommand.self, SourcesCommand.self, EstimateCommand.self,
                ]
            ),
            ("Other systems", [TargetsCommand.self, ObserveCommand.self, CollectCommand.self, FleetCommand.self]),
            (
                "People and access",
                [
                    PeopleCommand.self, AlertsCommand.self, CharacteristicsCommand.self, ClientsCommand.self, APICommand.self,
                    PageCommand.self, PhonesCommand.self,
                ]
            ),
            (
                "Maintenance",
                [SetupCommand.self, BackupCommand.self, UpdateCommand.self, StoreCommand.self, GenerateCommand.self]
            ),
        ]
    }

    static var commands: [any Command.Type] { commandGroups.flatMap(\.commands) }

    static let specification = CommandSpecification(
        name: "vitalgate",
        summary: "Collect, store and query readings from health sensors.",
        discussion: """
            Vitalgate reads health sensors and the files that health devices and apps export. It stores each reading once, as a \
            sample, and answers queries about the samples. A sample has a type, a value with a unit, a start and an end, a \
            source, a device and metadata. They mean the same as in HealthKit, the health data framework of Apple's devices.

            The hub ('vitalgate run') is the process that reads your devices. A profile describes how to read one kind of device \
            or file, and a frame is one message from a device. A reading with an impossible value is quarantined: it is set \
            aside until you accept or reject it. The ledger is the record of everything that was stored, deleted or changed. A \
            target is another system, or a folder, that receives a copy of your samples. UCUM is the standard for unit codes, \
            such as kg, mm[Hg] and [lb_av] (pounds).
            """,
        options: [
            Option(names: ["--store"], value: "PATH", help: "Path to the store (created if missing).", completion: .file),
            Option(names: ["--config"], value: "PATH", help: "Path to the configuration file.", completion: .file),
            Option(
                names: ["--profiles"], value: "DIR", help: "Additional folder of device profiles (overrides earlier ones).",
                repeating: true,
                completion: .directory),
        ],
        subcommands: commandGroups.flatMap { group in
            group.commands.map { command in
                var specification = command.specification
                specification.group = group.title
                return specification
            }
        },
        examples: [
            Example("vitalgate import export.zip weight.csv", "Import exports of a phone and a scale."),
            Example("vitalgate stats heartRate --every 1d", "Daily average, lowest and highest heart rate."),
            Example("vitalgate query bodyMass --from 2026-01-01 --unit '[lb_av]'", "This year's weights in pounds."),
        ])

    static func run(_ arguments: [String], streams: StandardStreams) -> ExitCode {
        do {
            return try dispatch(arguments, streams: streams)
        } catch {
            let (message, code) = explain(error)
            // A usage error starts with the command's name.
            if let message { streams.note(error is UsageError ? message : "vitalgate: \(message)", priority: .error) }
            return code
        }
    }

    /// Answers `complete -- WORD...`, by which a shell asks for the candidates for the last word.
    private static func complete(_ words: [String], _ output: OutputBuffer) throws -> ExitCode {
        let answer = specification.completion(of: words)
        try output.write(answer.heading + "\n")
        switch answer {
        case .words(let candidates):
            for candidate in candidates { try output.write("\(candidate.text)\t\(candidate.help)\n") }
        case .files, .folders: break
        case .output(let arguments, let prefix):
            for line in lines(of: arguments).prefix(maximumCandidates) where TerminalText.sanitized(line) == line {
                try output.write("\(prefix)\(line)\n")
            }
        }
        try output.flush()
        return .success
    }

    /// More candidates than a person looks through. A name with control characters is none: the shell would print them.
    private static let maximumCandidates = 1000

    /// The lines that a command prints. Its messages are discarded.
    private static func lines(of arguments: [String]) -> [String] {
        guard let file = tmpfile() else { return [] }
        defer { fclose(file) }
        let discarded = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(discarded) }
        guard run(arguments, streams: StandardStreams(output: fileno(file), error: discarded)) == .success else { return [] }
        rewind(file)
        var lines: [String] = []
        while let line = readLine(from: file) { lines.append(line) }
        return lines
    }

    private static func readLine(from file: UnsafeMutablePointer<FILE>) -> String? {
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        let count = getline(&line, &capacity, file)
        guard count >= 0, let line else { return nil }
        let bytes = UnsafeRawBufferPointer(start: line, count: count)
        return String(decoding: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self)
    }

    private static func dispatch(_ arguments: [String], streams: StandardStreams) throws -> ExitCode {
        if arguments.starts(with: ["complete", "--"]) { return try complete(Array(arguments.dropFirst(2)), streams.output) }
        let invocation = try specification.parse(arguments)
        var code = ExitCode.success
        switch invocation.action {
        case .help:
            try streams.output.write(specification.help(for: invocation.path, width: streams.outputTerminal.width ?? 80))
        case .version:
            try streams.output.write("vitalgate \(version)\n")
        case .run:
            let context = CommandContext(invocation: invocation, streams: streams, machine: .current())
            guard let command = commands.first(where: { $0.specification.name == invocation.path.first }) else {
                return .software
            }
            code = try command.run(context)
        }
        try streams.output.flush()
        return code
    }

    /// The message and the exit code of an error, as in sysexits. A message that repeats long input is cut.
    static func explain(_ error: any Error) -> (message: String?, code: ExitCode) {
        let (message, code) = wholeExplanation(of: error)
        return (message?.excerpt(maximum: maximumMessage), code)
    }

    /// More than a path may have, in bytes.
    private static let maximumMessage = 16_384

    private static func wholeExplanation(of error: any Error) -> (message: String?, code: ExitCode) {
        switch error {
        case let error as UsageError: (error.description, error.exitCode)
        case OutputError.closed: (nil, .success)
        case let error as OutputError: (error.description, error.exitCode)
        case let error as ConfigurationError: (error.description, error.isOfOption ? .usage : .configuration)
        case let error as PersonSettingError: (error.description, .configuration)
        case let error as UnitError: (error.description, .dataError)
        case let error as PredicateError: (error.description, .usage)
        case let error as ProfileMatchError: (error.description, .dataError)
        case let error as ProfileErrors: (error.description, .dataError)
        case let error as FewerReadings: (error.description, .dataError)
        case let error as StoreError: (error.description, exitCode(of: error))
        case let error as ServerError: (error.description, .unavailable)
        case let error as CertificateError: ("certificate: \(error.description)", .configuration)
        case let error as PageFilesError: (error.description, .configuration)
        case let error as HubFailure: (error.description, .ioError)
        case let error as SystemFailure: (error.description, .ioError)
        case let error as ExportFileError: (error.description, .cannotCreate)
        case let error as DeliveryError: (error.description, error.isAboutAccess ? .noPermission : .unavailable)
        case let error as SourceError:
            (error.description, error.kind == .noInput ? .noInput : error.kind == .malformed ? .dataError : .ioError)
        default: ("\(error)", .software)
        }
    }

    private static func exitCode(of error: StoreError) -> ExitCode {
        switch error.kind {
        case .missing: .noInput
        case .foreign, .newer, .corrupt, .invalid: .dataError
        case .busy, .tooLong: .tryAgain
        case .full, .readOnly, .inputOutput: .ioError
        case .permission: .noPermission
        // Not "try again": somebody who tries forever would never succeed with the same memory.
        case .defect, .outOfMemory: .software
        }
    }
}

protocol Command {
    static var specification: CommandSpecification { get }
    static func run(_ context: CommandContext) throws -> ExitCode
}
