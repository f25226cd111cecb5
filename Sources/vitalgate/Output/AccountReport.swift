import CommandLineKit
import Formats
import HealthModel
import SampleStore

/// Writes the entries of the ledger.
struct AccountReport {
    private let format: Format
    private let output: OutputBuffer
    private let terminal: Terminal
    private let zone: TimeZoneRules
    private let csv: CSVWriter

    init(context: CommandContext, zone: TimeZoneRules) {
        format = context.format
        output = context.streams.output
        terminal = context.streams.outputTerminal
        self.zone = zone
        csv = context.csv
    }

    func write(_ accounts: [IngestAccount]) throws {
        switch format {
        case .ndjson: for account in accounts { try output.write(account.object.line) }
        case .csv:
            var bytes: [UInt8] = []
            csv.append(row: IngestAccount.columns, to: &bytes)
            for account in accounts { csv.append(row: account.cells, to: &bytes) }
            try output.write(bytes)
        case .table:
            var table = TextTable(columns: [
                .init("entry", .right), .init("when", .left, minimumWidth: 26), .init("what"), .init("profile"),
                .init("read", .right),
                .init("stored", .right),
                .init("duplicate", .right), .init("quarantined", .right), .init("refused", .right), .init("skipped", .right),
                .init("state"),
            ])
            for account in accounts {
                let received = Instant(microseconds: account.received)
                let offset = zone.offset(at: received)
                let when = Readable.local(received, at: offset)
                table.append([
                    "\(account.id)", when, Self.title(account), account.profile ?? "",
                    Readable.count(account.read), Readable.count(account.stored), Readable.count(account.duplicate),
                    Readable.count(account.quarantined), Readable.count(account.refused),
                    Readable.count(account.skipped.values.reduce(0, +)), account.state,
                ])
            }
            try output.write(table.rendered(width: terminal.width, unicode: terminal.isUnicode))
        }
    }

    /// The file or the action, such as `undo ingest 3 (35 deleted)`.
    private static func title(_ account: IngestAccount) -> String {
        let did = [(account.deleted, "deleted"), (account.restored, "restored")].filter { $0.0 > 0 }
            .map { "\(Readable.count($0.0)) \($0.1)" }
        return [
            account.kind == .import ? nil : account.kind.rawValue, account.name,
            did.isEmpty ? nil : "(\(did.joined(separator: ", ")))",
        ].compactMap { $0 }.joined(separator: " ")
    }

    /// Writes the assumptions, skipped items and refusals.
    func writeDetails(
        of account: IngestAccount, refusals: [RefusalEntry],
        nearDuplicates: [(duplicateID: SampleIdentity, first: SampleIdentity, rule: DuplicateRule)]
    ) throws {
        var text = ""
        if let profile = account.profile { text += "profile: \(profile)\n" }
        if let zone = account.zone { text += "local times: \(zone)\n" }
        for note in account.notes { text += "note: \(note)\n" }
        for (kind, count) in account.skipped.sorted(by: { $0.key < $1.key }) {
            text += "skipped: \(Readable.count(count)) \(kind)\n"
        }
        for (duplicateID, first, rule) in nearDuplicates {
            text += "duplicate: \(duplicateID) is a duplicate of \(first) by rule \(rule.rawValue)\n"
        }
        if account.nearDuplicates > nearDuplicates.count {
            text += "duplicate: \(Readable.count(account.nearDuplicates - nearDuplicates.count)) more\n"
        }
        if account.linked > 0 { text += "linked: \(Readable.count(account.linked, "sample")) matched with another device's\n" }
        for refusal in refusals {
            text +=
                refusal.placeKind == "more"
                ? "refused: \(Readable.count(refusal.count)) more: \(refusal.reason)\n"
                : "refused: \(refusal.placeKind) \(refusal.place): \(refusal.reason)\n"
        }
        try output.write(TerminalText.sanitized(text, keepingLines: true))
    }

    /// The maximum number of near-duplicates to list.
    static let maximumNearDuplicates = 1000
}
