import Formats
import Glibc
import HealthModel
import Pipeline

/// Writes changes into files of a folder, one after the other: lines of NDJSON as `changes` prints them, or rows of CSV.
///
/// The file that grows is `NAME.ndjson`. When it is long enough, or another day has begun, it gets its final name, `NAME-20261123-000001.ndjson`,
/// and never changes again. How far it is whole stands in `NAME.state`, written behind the lines: what a kill or a power cut left behind that place is
/// cut off and comes again, so that each change is there once.
public final class FileExporter: Exporter {
    /// What the lines are.
    public enum Form: String, Sendable, CaseIterable {
        case ndjson
        case csv
    }

    /// What a person settles.
    public struct Settings: Sendable {
        /// Made, with mode 0700, where it is not there.
        public var folder: String
        /// Of the files.
        public var name: String
        /// What the lines are.
        public var form: Form
        /// In octets: a longer file gets its final name.
        public var limit: Int
        /// A file has the changes of one day.
        public var isDaily: Bool
        /// Of the days.
        public var zone: TimeZoneRules

        /// 64 MiB a file, a file a day.
        public init(
            folder: String, name: String, form: Form = .ndjson, limit: Int = 64 << 20, isDaily: Bool = true,
            zone: TimeZoneRules = TimeZoneRules(fixed: .utc)
        ) {
            (self.folder, self.name, self.form) = (folder, name, form)
            (self.limit, self.isDaily, self.zone) = (limit, isDaily, zone)
        }
    }

    /// A commit of the disk each: many at once where there are many.
    public let batchLimit = 65_536
    private let settings: Settings
    private let lines: ChangeText
    private let now: () -> Instant
    private var file: ExportFile?

    /// - Parameter me: the subject that is written as `me`.
    public init(_ settings: Settings, me: String, now: @escaping () -> Instant) {
        (self.settings, self.now) = (settings, now)
        lines = ChangeText(settings.form, me: me)
    }

    /// Looks whether the folder is there and can be written.
    public func check() throws(DeliveryError) -> [Finding] {
        var status = stat()
        guard stat(settings.folder, &status) == 0 else {
            guard errno == ENOENT else { throw ExportFile.error(settings.folder) }
            return [Finding(.warning, settings.folder, "is not there yet, and is made with the first delivery")]
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw DeliveryError(.unfit, "\(settings.folder): it is no folder") }
        guard access(settings.folder, W_OK | X_OK) == 0 else { throw ExportFile.error(settings.folder) }
        return [Finding(.good, settings.folder, "can be written")]
    }

    public func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        let file = try opened()
        // What is there already: it was delivered, and nobody was left to hear of it.
        let known = file.state.anchor.flatMap { batch.anchors.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
        guard known < batch.changes.count else { return 0 }
        let day = settings.isDaily ? Self.day(now(), settings.zone) : 0
        if file.state.length > 0, file.state.length >= settings.limit || file.state.day != day {
            try file.close()
        }
        var octets: [UInt8] = []
        if file.state.length == 0 { octets = lines.head }
        for index in known..<batch.changes.count { lines.append(batch.changes[index], anchor: batch.anchors[index], to: &octets) }
        do throws(DeliveryError) {
            try file.append(octets, anchor: batch.anchors[batch.anchors.count - 1], day: day)
        } catch {
            // How far it is whole is read anew.
            self.file = nil
            throw error
        }
        return 0
    }

    private func opened() throws(DeliveryError) -> ExportFile {
        if let file { return file }
        let zone = settings.zone
        let opened = try ExportFile(folder: settings.folder, name: settings.name, suffix: settings.form.rawValue) { day in
            Self.name(of: day, zone)
        }
        file = opened
        return opened
    }

    public func finish() { file = nil }

    private static func day(_ time: Instant, _ zone: TimeZoneRules) -> Int { CalendarIntervals(.day, zone: zone).index(of: time) }

    /// `20261123`; nothing where files are not of a day.
    private static func name(of day: Int, _ zone: TimeZoneRules) -> String {
        guard day != 0 else { return "" }
        let start = CalendarIntervals(.day, zone: zone).start(of: day)
        let offset = zone.offset(at: start)
        let (days, _) = (start.microseconds &+ Int64(offset.seconds) * 1_000_000).flooredQuotientAndRemainder(dividingBy: Calendar.day)
        let date = Calendar.date(days: Int(days))
        func padded(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        return padded(date.year, 4) + padded(date.month, 2) + padded(date.day, 2)
    }
}

extension Int64 {
    fileprivate func flooredQuotientAndRemainder(dividingBy divisor: Int64) -> (Int64, Int64) {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
    }
}
