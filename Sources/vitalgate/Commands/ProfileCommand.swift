import CommandLineKit
import FileSource
import Formats
import HealthModel
import Hub
import Ingestion
import Pipeline
import Profiles

/// `profile`: the device profiles of this machine.
enum ProfileCommand: Command {
    private static let profiles = Argument(
        name: "PROFILE", help: "Ids or files of profiles (default: all profiles). A name with / or .json5 is a file.",
        arity: .any,
        completion: .profiles)

    static let specification = CommandSpecification(
        name: "profile", summary: "Show, check, test and draft profiles of devices and files.",
        discussion:
            """
            A profile is one JSON5 file that describes how to read a kind of device or file. It also contains test vectors, \
            which are sample inputs with the expected results. docs/how-to/write-a-profile.md explains how to write a profile.
            """,
        subcommands: [
            CommandSpecification(
                name: "list", summary: "List profiles and their files.",
                options: [
                    Option(names: ["--ids"], help: "Print only the ids, one per line."),
                    Option(
                        names: ["--devices"],
                        help: "List the supported makers and models, the types that they measure, and how well each is tested."),
                    Format.option, Format.safe,
                ],
                examples: [Example("vitalgate profile list --devices", "Check whether your device is supported.")]),
            CommandSpecification(
                name: "show", summary: "Print a profile, and how duplicates of its readings are found.",
                arguments: [
                    Argument(name: "ID", help: "Id of the profile.", completion: .profiles)
                ]),
            CommandSpecification(
                name: "check", summary: "Check profile files and report each mistake and its location.",
                arguments: [
                    Argument(
                        name: "FILE", help: "Profile files (default: all profiles on this machine).", arity: .any,
                        completion: .file)
                ]),
            CommandSpecification(
                name: "test", summary: "Run the tests (vectors) in profiles.",
                discussion: """
                    If the result of a test differs, the command prints the differing readings as you would write them in the \
                    profile. A line with - is expected but missing, and a line with + is unexpected.
                    """, arguments: [profiles],
                examples: [Example("vitalgate profile test profiles/my-scale.json5", "Test a draft before you install it.")]),
            CommandSpecification(
                name: "suggest", summary: "Draft a profile from a CSV file or a capture.",
                discussion: """
                    The draft marks everything that you have to confirm or fill in, because the file does not show it. With \
                    --capture, FILE is the output of 'vitalgate capture' or 'vitalgate devices request', which contains frames \
                    (single messages from a device). A byte that is the same in all frames becomes a condition in the draft. \
                    Every other byte becomes a field whose meaning you have to fill in. The draft does not contain the values of \
                    these bytes. If a CSV file has no header, the draft names its columns, and contains the line that you have to \
                    insert into the file.
                    """,
                arguments: [Argument(name: "FILE", help: "CSV file or capture.", completion: .file)],
                options: [
                    Option(names: ["--id"], value: "ID", help: "Id of the new profile."),
                    Option(names: ["--capture"], help: "Read FILE as a capture of device messages."),
                    Option(
                        names: ["--device"], value: "NAME",
                        help: "Name or address of the device, if the capture contains several."),
                ],
                examples: [
                    Example(
                        "vitalgate profile suggest new-scale.csv > new-scale.json5", "Draft a profile to edit, check and test."),
                    Example("vitalgate profile suggest --capture field.ndjson", "Draft the layout of a device's frames."),
                ]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "list": try list(context)
        case "show": try show(context)
        case "check": try check(context)
        case "test": try test(context)
        default: try suggest(context)
        }
    }

    static func folders(_ context: CommandContext) throws -> ProfileFolders {
        let folders = ProfileFolders(configuration: try context.configuration(), executable: ProfileFolders.executable())
        try folders.checkNamed()
        return folders
    }

    /// Loads the profiles and reports those that cannot be loaded.
    static func library(_ context: CommandContext) throws -> ProfileLibrary {
        let (library, problems) = try folders(context).load()
        for problem in problems { context.note("vitalgate: profile ignored: \(problem)") }
        return library
    }

    private static func list(_ context: CommandContext) throws -> ExitCode {
        let profiles = try library(context).profiles
        let output = context.streams.output
        if context.invocation.flag("--ids") {
            for profile in profiles { try output.write("\(profile.id)\n") }
            return .success
        }
        if context.invocation.flag("--devices") { return try listDevices(profiles, context) }
        try context.write(
            profiles,
            [
                Field("id") { $0.id }, Field("name") { $0.name }, Field("version") { $0.version },
                Field("channels", cell: { $0.channels.joined(separator: " ") }, value: { $0.channels }),
                .json("vectors") { $0.vectors.count + $0.frameVectors.count }, Field("file") { $0.file },
            ])
        return .success
    }

    private static func listDevices(_ profiles: [Profile], _ context: CommandContext) throws -> ExitCode {
        try context.write(
            DeviceTable(profiles: profiles).rows,
            [
                Field("kind") { $0.device.kind.rawValue }, Field("maker") { $0.device.maker }, Field("model") { $0.model },
                Field("types", cell: { $0.types.joined(separator: " ") }, value: { $0.types }),
                Field("proof", cell: { $0.device.proof.title }, value: { $0.device.proof.rawValue }),
                Field("needs") { $0.device.needs }, Field("profile") { $0.profile.id },
            ])
        return .success
    }

    private static func show(_ context: CommandContext) throws -> ExitCode {
        let id = context.invocation.argument("ID") ?? ""
        guard let profile = try library(context)[id] else { throw ProfileMatchError.noSuchProfile(id: id) }
        let text = try TextFileHead.read(path: profile.file).text
        try context.streams.output.write(text.hasSuffix("\n") ? text : text + "\n")
        try context.streams.output.write(duplicateRules(of: profile))
        return .success
    }

    /// The duplicate rules of the profile's types, as comments, so that the output remains a valid profile.
    private static func duplicateRules(of profile: Profile) -> String {
        let types = profile.types
        guard !types.isEmpty else {
            return "// The file names the types. 'vitalgate types --format ndjson' shows the duplicate rule of each type.\n"
        }
        let rules = types.map { "//     \($0.id): \(DuplicateRule.of($0, lasting: true).rawValue)\n" }
        return "// Duplicate rules for readings from other paths (docs/explanation/readings.md):\n" + rules.joined()
    }

    private static func check(_ context: CommandContext) throws -> ExitCode {
        let named = context.invocation.arguments("FILE")
        let files = named.isEmpty ? try folders(context).folders.flatMap { ProfileLibrary.files(in: $0) } : named
        var code = ExitCode.success
        for file in files {
            do throws(ProfileErrors) {
                let profile = try ProfileLibrary.check(file: file)
                try? context.streams.output.write("\(file): ok, profile \(profile.id)\n")
            } catch {
                code = .dataError
                for problem in error.problems { try? context.streams.output.write("\(problem)\n") }
            }
        }
        return code
    }

    private static func test(_ context: CommandContext) throws -> ExitCode {
        let names = context.invocation.arguments("PROFILE")
        func isFile(_ name: String) -> Bool { name.contains("/") || name.hasSuffix(".json5") }
        // To check files, other profiles need not be loaded.
        let library = names.isEmpty || !names.allSatisfy(isFile) ? try library(context) : ProfileLibrary([])
        if names.isEmpty, library.profiles.isEmpty { throw ProfileMatchError.noProfiles(folders: library.folders) }
        let profiles =
            try names.isEmpty
            ? library.profiles
            : names.map { name in
                if isFile(name) { return try ProfileLibrary.check(file: name) }
                guard let profile = library[name] else { throw ProfileMatchError.noSuchProfile(id: name) }
                return profile
            }
        var code = ExitCode.success
        for profile in profiles {
            let failures = failures(of: profile)
            if failures.isEmpty {
                try context.streams.output.write(
                    "\(profile.id): ok, \(Readable.count(profile.vectors.count + profile.frameVectors.count, "vector"))\n")
            }
            for failure in failures { try context.streams.output.write("\(failure)\n") }
            if !failures.isEmpty { code = .dataError }
        }
        return code
    }

    /// Runs the tests in a profile.
    ///
    /// - Returns: the failed ones, for the user.
    static func failures(of profile: Profile) -> [String] {
        ProfileVectorRun(profile) { FileReading.source(of: $0, form: $1) }.failures().map { "\($0)" }
    }

    private static func suggest(_ context: CommandContext) throws -> ExitCode {
        let path = context.invocation.argument("FILE") ?? ""
        let name = path.split(separator: "/").last.map(String.init) ?? "new"
        let stem = name.split(separator: ".").first.map(String.init) ?? name
        let id = context.invocation.string("--id") ?? Self.identifier(from: stem)
        if context.invocation.flag("--capture") {
            let frames = try CapturedFrames(path: path, device: context.invocation.string("--device"))
            try context.streams.output.write(FrameSuggestion(id: id, name: frames.name, channels: frames.channels).json5)
            return .success
        }
        let head = try TextFileHead.read(path: path)
        let suggestion = ProfileSuggestion(firstLines: head.text, id: id)
        guard suggestion.isTable else {
            throw SourceError(.malformed, "\(path): it is not a table with several columns, so no profile can be drafted")
        }
        if let header = suggestion.addedHeader {
            context.note("\(path): it has no header, which a profile needs. Insert this line at its beginning: \(header)")
        }
        try context.streams.output.write(suggestion.json5)
        return .success
    }

    /// An id made from a file's name: lower-case letters, digits and hyphens.
    private static func identifier(from name: String) -> String {
        let characters = name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        let parts = String(characters).split(separator: "-")
        return parts.isEmpty ? "new-profile" : parts.joined(separator: "-")
    }
}
