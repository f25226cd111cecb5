/// A hub's report to the center. It contains no health values and no names of people.
public struct HubReport: Codable, Hashable, Sendable {
    /// The version of the hub's software.
    public var version: String
    /// The number of the last change in the hub's store.
    public var lastChange: Int64
    /// The number of changes that wait for delivery.
    public var waiting: Int
    /// The number of readings in quarantine.
    public var quarantined: Int
    /// The number of the last order that the hub has carried out, or 0.
    public var order: Int64
    /// The result of that order, or `nil` before the first.
    public var result: OrderResult?

    /// A report.
    public init(version: String, lastChange: Int64, waiting: Int, quarantined: Int, order: Int64, result: OrderResult?) {
        (self.version, self.lastChange, self.waiting) = (version, lastChange, waiting)
        (self.quarantined, self.order, self.result) = (quarantined, order, result)
    }

    /// The longest report in bytes.
    static let longest = 16_384
    private static let longestVersion = 64

    /// Whether all members are within their bounds.
    var isValid: Bool {
        version.utf8.count <= Self.longestVersion && !version.utf8.contains(0) && min(lastChange, order) >= 0
            && min(waiting, quarantined) >= 0
            && (result.map { $0.output.utf8.count <= OrderResult.longestOutput && !$0.output.utf8.contains(0) } ?? true)
    }
}

/// The result of an order.
public struct OrderResult: Codable, Hashable, Sendable {
    /// The exit status of the command on the hub, 0 if it succeeded.
    public var code: Int
    /// Counts as one line of JSON, or empty. It contains no values and no names.
    public var output: String

    /// The result of a command.
    public init(code: Int, output: String = "") { (self.code, self.output) = (code, output) }

    /// The longest output in bytes.
    public static let longestOutput = 4096
}

/// A numbered command that the center has for a hub.
public struct FleetOrder: Codable, Hashable, Sendable {
    /// The commands that a center can give. Each runs one command of the program on the hub.
    public enum Kind: String, CaseIterable, Sendable {
        /// `devices adopt`
        case adopt
        /// `devices assign`
        case assign
        /// `repair apply`
        case repair
        /// `people erase --yes`
        case erase
        /// `targets verify` of the fleet's target
        case verify

        /// The options that the center may give. All others, such as `--store`, are refused.
        public var options: Set<String> {
            switch self {
            case .adopt: ["--profile", "--person", "--name"]
            case .assign: ["--person", "--range", "--user", "--samples"]
            case .repair:
                [
                    "--type", "--source", "--device", "--person", "--from", "--to", "--where", "--read-as", "--scale", "--shift",
                    "--move-zone", "--assign", "--set-type", "--correction", "--ambiguous", "--merge",
                ]
            case .erase: []
            case .verify: ["--dry-run"]
            }
        }
    }

    /// The number. A hub carries out the orders in the order of their numbers.
    public var number: Int64
    /// The name of a ``Kind``, or one that only a newer version knows.
    public var kind: String
    /// The arguments of the command.
    public var arguments: [String]

    /// An order.
    public init(number: Int64, kind: String, arguments: [String]) {
        (self.number, self.kind, self.arguments) = (number, kind, arguments)
    }

    private static let mostArguments = 64
    /// The longest arguments in bytes, together.
    private static let longest = 8192

    /// A reason why a hub would refuse the order, or `nil`.
    public var obstacle: String? {
        guard let kind = Kind(rawValue: kind) else {
            return "unknown command, expected one of \(Kind.allCases.map(\.rawValue).joined(separator: ", "))"
        }
        guard arguments.count <= Self.mostArguments, arguments.reduce(0, { $0 + $1.utf8.count }) <= Self.longest,
            arguments.allSatisfy({ !$0.utf8.contains(0) })
        else { return "too many or too long arguments" }
        for argument in arguments where argument.hasPrefix("-") && argument != "-" {
            let name = argument.prefix { $0 != "=" }
            guard kind.options.contains(String(name)) else {
                let known = kind.options.sorted().joined(separator: ", ")
                return "the option \(name) is not allowed for \(kind.rawValue)"
                    + (known.isEmpty ? "" : ", expected one of \(known)")
            }
        }
        // It would ask for input.
        guard !arguments.contains("-") else { return "'-' is not allowed" }
        return nil
    }
}
