import CommandLineKit
import FleetProtocol
import Hub

/// `fleet`: manages the hubs of a fleet at its center, and lets a hub join one.
enum FleetCommand: Command {
    private static let hub = Argument(
        name: "HUB", help: "Name of a hub.", completion: .command("vitalgate fleet hubs --names"))

    static let specification = CommandSpecification(
        name: "fleet", summary: "Manage the hubs of a fleet, or join one.",
        discussion: """
            A fleet is a number of hubs that send their readings to one center (see 'vitalgate collect'). All commands except \
            'join' and 'key' run at the center, with the settings in 'collect' of its configuration.
            """,
        subcommands: [
            CommandSpecification(
                name: "enroll", summary: "Print a code with which one hub can join the fleet.",
                discussion: """
                    The code is valid for an hour, and for one hub. The database stores only a key that was derived from it. The hub \
                    joins with 'vitalgate fleet join'.
                    """,
                options: [Option(names: ["--name"], value: "NAME", help: "Name of the hub in the fleet.", required: true)],
                examples: [Example("vitalgate fleet enroll --name ward-3", "Let a hub join as 'ward-3'.")]),
            FleetJoin.specification,
            CommandSpecification(
                name: "hubs", summary: "List the hubs with their last reports.",
                discussion: """
                    'silence' is the time since the hub's last report or delivery. 'waiting' is the number of changes that were \
                    not delivered at the time of the report. 'battery' is the lowest battery level of the hub's devices. 'silent' is \
                    the number of devices without a reading for a day. 'orders' is the number of commands without a result.

                    'state' is 'enrolled', 'revoked', 'stopped' (delivery waits until a user acts), or 'copied' (another machine has \
                    reported from a copy of the hub's store within the last day).

                    With 'collect.sealing', a line at the end counts the hubs whose last report was not sealed.
                    """,
                options: [
                    Option(names: ["--names"], help: "Print only the names, one per line."), Format.option, Format.safe,
                ]),
            CommandSpecification(
                name: "status", summary: "Show one hub with its last commands.", arguments: [hub],
                options: [Format.option, Format.safe]),
            CommandSpecification(
                name: "revoke", summary: "Shut a hub out of the fleet.",
                discussion: """
                    Collectors refuse the hub from now on. Brokers whose configuration is written by a collector close its \
                    connection within seconds. The readings that it has delivered stay. 'vitalgate fleet replace' lets its store join \
                    again.
                    """, arguments: [hub], examples: [Example("vitalgate fleet revoke ward-3", "Shut out a lost hub.")]),
            CommandSpecification(
                name: "replace", summary: "Print a code with which the store of a known hub can join again.",
                discussion: """
                    A code of 'vitalgate fleet enroll' lets only an unknown store join, so that a copied card or a stolen code cannot take \
                    the place of a hub. Use this command if the hub has lost its key, or was revoked and is to come back. It keeps its name \
                    and its readings, and its earlier key becomes invalid when it joins. The code is valid for an hour.
                    """, arguments: [hub],
                examples: [Example("vitalgate fleet replace ward-3", "Let 'ward-3' join with a new key.")]),
            CommandSpecification(
                name: "command", summary: "Run a command on a hub.",
                discussion: """
                    Stores the command in the database. The hub runs it as soon as it is connected, after all earlier ones, and \
                    reports the exit status ('vitalgate fleet status HUB'). The command is signed with the key in \
                    'collect.commands'. A hub runs no others (key 'commandKey' of its target, which 'vitalgate fleet join' sets).

                    KIND is one of these, with the arguments of the command that it runs:

                    adopt: 'vitalgate devices adopt'. assign: 'vitalgate devices assign'. repair: 'vitalgate repair apply'. erase: \
                    'vitalgate people erase --yes', which waits until the hub is stopped. verify: 'vitalgate targets verify' of the \
                    fleet's target.

                    Write -- before arguments that begin with a hyphen. Name people by their UUIDs.
                    """,
                arguments: [
                    hub,
                    Argument(
                        name: "KIND", help: "Kind of the command.",
                        completion: .values(FleetOrder.Kind.allCases.map(\.rawValue))),
                    Argument(name: "ARGUMENT", help: "Arguments of the command.", arity: .any),
                ],
                examples: [
                    Example(
                        "vitalgate fleet command ward-3 adopt -- C0:01:02:03:04:01 --profile sig-heart-rate",
                        "Let a hub read a chest strap."),
                    Example(
                        "vitalgate fleet command ward-3 repair -- --type bodyMass --device S-17 --read-as '[lb_av]' --ambiguous",
                        "Read a scale's weights as pounds."),
                ]),
            CommandSpecification(
                name: "set", summary: "Change settings in the configuration of a hub.",
                discussion: """
                    Stores a command of the kind 'set', as 'vitalgate fleet command' does. The hub changes its configuration file \
                    and reads it again. All other text of the file stays, including comments. If a value is not valid, nothing changes. \
                    The exit status in 'vitalgate fleet status HUB' is 77 if the hub's service may not change the file, and 78 if a value \
                    is not valid.

                    SETTING is KEY=VALUE. Keys: \(HubSetting.names.joined(separator: ", ")). \
                    docs/reference/configuration.md explains each key.
                    """,
                arguments: [hub, Argument(name: "SETTING", help: "KEY=VALUE.", arity: .oneOrMore)],
                examples: [
                    Example(
                        "vitalgate fleet set ward-3 retention.heartRate=90d prune=daily",
                        "Remove heart rates after 90 days there.")
                ]),
            CommandSpecification(
                name: "profile", summary: "Install a device profile on a hub.",
                discussion: """
                    Checks the profile, runs its tests, and stores a command of the kind 'profile', as 'vitalgate fleet command' does. The \
                    hub writes the file into the last of its folders of profiles, by default /etc/vitalgate/profiles.d, where it replaces \
                    a profile with the same id. Then it reads all profiles again. The exit status in 'vitalgate fleet status HUB' is 77 if \
                    the hub's service may not write there, and 78 if its version cannot read the profile.
                    """,
                arguments: [hub, Argument(name: "FILE", help: "Profile, a JSON5 file.", completion: .file)],
                examples: [
                    Example("vitalgate fleet profile ward-3 new-scale.json5", "Let a hub read a new kind of scale.")
                ]),
            CommandSpecification(
                name: "check", summary: "Compare a hub's samples with those at the center.",
                discussion: """
                    Runs 'vitalgate targets verify' on the hub and waits for its result. Without --repair nothing changes, and the \
                    types and local days are listed of which the hub ('here') and the center ('there') have different counts. The exit \
                    status is 65 if there are differences, and 75 if the hub does not reply in time. The result then appears in \
                    'vitalgate fleet status HUB' later.
                    """,
                arguments: [hub],
                options: [
                    Option(names: ["--repair"], help: "Also correct the differences at the center."),
                    Option(names: ["--seconds"], value: "N", help: "Time to wait for the hub (default: 60)."), Format.option,
                    Format.safe,
                ]),
            CommandSpecification(
                name: "erase", summary: "Permanently erase a person from the center's database.",
                discussion: """
                    Erases everything that the database has about the person, from all hubs: samples, records of deleted samples, and \
                    reports that another hub's sample represents. You cannot undo this. Later readings of the person are refused, \
                    because a hub may still have them. Only a hash of the person's UUID stays for this. The command only prints the \
                    numbers unless you use --yes.

                    Erase the person on each hub as well ('vitalgate fleet command HUB erase PERSON'). This command works also if a \
                    hub is lost, was revoked, or has no longer the readings. Backups of the database are not changed. If you restore \
                    one, run the command again.
                    """,
                arguments: [Argument(name: "PERSON", help: "Person: a UUID.")],
                options: [
                    Option(names: ["--yes"], help: "Erase the data (default: only show how much there is)."),
                    Option(names: ["--readmit"], help: "Accept readings of an erased person again."), Format.option, Format.safe,
                ],
                examples: [
                    Example(
                        "vitalgate fleet erase 7f9c24e8-3b1d-4c52-9f0e-2a6d1b8c4e57 --yes", "Erase a person at the center.")
                ]),
            StudyCommand.specification,
            CommandSpecification(
                name: "broker-config", summary: "Print the users of the fleet for nats-server's configuration.",
                discussion: """
                    Prints the part 'authorization' of the configuration, with a key for each hub, so that a hub can send only as \
                    itself. A collector writes the same text into the file 'collect.brokerUsers.file' whenever a hub joins or is \
                    revoked.
                    """),
            CommandSpecification(
                name: "key", summary: "Create a key for a collector, commands, or sealing, and print its public part.",
                discussion: """
                    The file gets the secret part. Only its owner can read it. If the file exists, only its public part is printed.

                    With --sealing, the key opens what hubs have sealed (key 'collect.sealing' of the configuration). Hubs that join \
                    get its public part.
                    """,
                arguments: [Argument(name: "FILE", help: "Path of the key's file.", completion: .file)],
                options: [Option(names: ["--sealing"], help: "Create a key that opens sealed requests, not one that signs.")],
                examples: [
                    Example("vitalgate fleet key /etc/vitalgate/collector.seed", "Create a key for a collector."),
                    Example("vitalgate fleet key --sealing /etc/vitalgate/sealing.seed", "Create a key for sealed requests."),
                ]),
        ])

    static func run(_ context: CommandContext) throws -> ExitCode {
        switch context.invocation.path.last {
        case "join": return try FleetJoin(context).run()
        case "key":
            let file = context.invocation.argument("FILE") ?? ""
            let isForSealing = context.invocation.flag("--sealing")
            let key = try isForSealing ? KeyFile.sealingKey(at: file).publicText : KeyFile.key(at: file).publicText
            try context.streams.output.write(key + "\n")
            return .success
        default: break
        }
        guard let settings = try context.configuration().collect else {
            context.note("vitalgate: 'collect' is not configured (see docs/how-to/fleet.md)")
            return .configuration
        }
        let center = FleetCenter(context, settings)
        if context.invocation.path.contains("study") { return try StudyCommand(context, center.database()).run() }
        switch context.invocation.path.last {
        case "enroll": return try center.enroll()
        case "replace": return try center.replace()
        case "revoke": return try center.revoke()
        case "erase": return try center.erase()
        case "broker-config": try context.streams.output.write(try center.users().text(settings.broker.subject))
        case "command": return try center.command()
        case "set": return try center.set()
        case "profile": return try center.profile()
        case "check": return try center.check()
        case "status": return try center.report().writeStatus()
        default: return try center.report().writeHubs()
        }
        return .success
    }
}
