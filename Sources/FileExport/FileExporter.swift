import Formats
import Glibc
import HealthModel
import Pipeline

/// Writes changes into files of a folder, one after the other: lines of NDJSON as `changes` prints them, with all that their objects carry, or rows of
/// CSV.
///
/// The file that grows is `NAME.ndjson`. When it is long enough, or another day has begun, it gets its final name, `NAME-20261123-000001.ndjson`,
/// and never changes again. How far it is whole stands in `NAME.state`, written behind the lines: what a kill or a power cut left behind that place is
/// cut off and comes again, so that each change is there once.
public final class FileExporter: Exporter {
    /// What the lines are.
    public enum Form: String, Sendable, CaseIterable {
        /// Lines as `changes` prints them.
        case ndjson
        /// A row a change, as `query --format csv` has samples, with what happened in front.
        case csv
        /// Data points of Open mHealth, for the types that it has published.
        case openMHealth = "open-mhealth"

        /// What files' names end in.
        var suffix: String {
            switch self {
            case .ndjson: "ndjson"
            case .csv: "csv"
            case .openMHealth: "omh.ndjson"
            }
        }
    }

    /// Lines and rows hold every kind.
    public var kinds: Set<SampleKind> { settings.form == .openMHealth ? DataPointLine.kinds : Set(SampleKind.allCases) }

    public var tellsRecords: Bool { settings.form == .ndjson }

    /// What a person settles.
    public struct Settings: ExporterSettings {
        /// `folder`, `format`, `limit` in MiB, `daily`, `pack`.
        public static let keys = ["folder", "format", "limit", "daily", "pack"]
        /// Made, with mode 0700, where it is not there.
        public var folder: String
        /// What the lines are.
        public var form = Form.ndjson
        /// In octets: a longer file gets its final name.
        public var limit = 64 << 20
        /// A file has the changes of one day.
        public var isDaily = true
        /// A file is packed as it gets its final name, with zstd.
        public var isPacked = false

        /// 64 MiB a file, a file a day.
        public init(
            folder: String, form: Form = .ndjson, limit: Int = 64 << 20, isDaily: Bool = true, isPacked: Bool = false
        ) {
            (self.folder, self.form, self.limit, self.isDaily, self.isPacked) = (folder, form, limit, isDaily, isPacked)
        }

        private enum Key: String, CodingKey { case folder, format, limit, daily, pack }

        /// - Throws: ``SettingsFault`` where a value does not fit.
        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Key.self)
            folder = try members.decode(String.self, forKey: .folder)
            guard folder.hasPrefix("/") else { throw SettingsFault("folder", "a folder's path begins with /") }
            if let name = try members.decodeIfPresent(String.self, forKey: .format) {
                guard let form = Form(rawValue: name) else {
                    throw SettingsFault("format", "expected \(Form.allCases.map(\.rawValue).joined(separator: ", "))")
                }
                self.form = form
            }
            if let megabytes = try members.decodeIfPresent(Int.self, forKey: .limit) {
                guard (1...65_536).contains(megabytes) else {
                    throw SettingsFault("limit", "expected a whole number of MiB from 1 to 65536")
                }
                limit = megabytes << 20
            }
            isDaily = try members.decodeIfPresent(Bool.self, forKey: .daily) ?? true
            if let name = try members.decodeIfPresent(String.self, forKey: .pack) {
                guard name == "zstd" else { throw SettingsFault("pack", "expected zstd, or nothing") }
                isPacked = true
            }
        }
    }

    /// A commit of the disk each, some megabytes of lines.
    public let batchLimit = 4096
    /// A kill repeats the batch that was written last, which is known by its last anchor.
    public let isOrdered = true
    let settings: Settings
    private let text: ChangeText
    let context: ExportContext
    private var file: ExportFile?
    /// Lines that are written in one go; a batch of routes and documents is larger than the memory is to be.
    private static let portion = 4 << 20
    /// A batch's lines; kept, since megabytes that come and go cost more than what is written into them.
    private var octets: [UInt8] = []

    /// Opens nothing yet.
    public init(_ settings: Settings, context: ExportContext) {
        (self.settings, self.context) = (settings, context)
        text = ChangeText(settings.form, context)
    }

    /// Where the target is, without credentials: another address is another target.
    public var address: String { settings.folder }

    /// The settings that shape what is written. A change of them stops the target until it is rewritten.
    public var shape: String { settings.form == .ndjson ? "" : "format=\(settings.form.rawValue)" }

    /// The mark that the last delivery left at the target; `nil` if the target keeps none.
    public func found() throws(DeliveryError) -> FoundMark? {
        let state = try ExportFile.state(
            folder: settings.folder, name: context.name, suffix: settings.form.suffix, store: context.store)
        let mark = state?.mark.map {
            TargetMark(
                identity: $0.identity, count: $0.count, anchor: state?.anchor ?? "0", holder: $0.holder, time: $0.time)
        }
        return FoundMark(identity: mark?.identity, mark: mark)
    }

    /// Writes a mark before the first delivery, so that the target belongs to this store.
    public func claim(_ mark: TargetMark) throws(DeliveryError) {
        // Told everything from the beginning, it has nothing of that yet.
        let file = try opened()
        try file.claim(Self.mark(mark), anchor: mark.anchor == "0" ? nil : file.state.anchor)
    }

    private static func mark(_ mark: TargetMark) -> ExportFile.Mark {
        ExportFile.Mark(identity: mark.identity, count: mark.count, holder: mark.holder, time: mark.time)
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

    /// Appends lines, durable once this returns; those that are there already are left out.
    public func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        let file = try opened()
        if let mark = batch.mark, file.state.mark?.count != mark.count - 1 || file.state.mark?.identity != mark.identity {
            throw DeliveryError(.unreachable, "somebody else has delivered into the folder, or it was put back")
        }
        // What is there already: it was delivered, and nobody was left to hear of it.
        let known = file.state.anchor.flatMap { batch.anchors.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
        guard known < batch.changes.count else {
            if let mark = batch.mark { try file.claim(Self.mark(mark), anchor: file.state.anchor) }
            return 0
        }
        let day = settings.isDaily ? Self.day(context.now(), context.zone) : 0
        if file.state.length > 0, file.state.length >= settings.limit || file.state.day != day {
            try file.close()
        }
        octets.removeAll(keepingCapacity: true)
        if file.state.length == 0 { octets += text.head }
        var leftOut = 0
        for index in known..<batch.changes.count {
            let anchor = batch.anchors.isEmpty ? "" : batch.anchors[index]
            if !text.append(batch.changes[index], anchor: anchor, to: &octets) { leftOut += 1 }
            guard octets.count >= Self.portion else { continue }
            do throws(DeliveryError) {
                try file.write(octets)
            } catch {
                self.file = nil
                throw error
            }
            // What one large object took is given back.
            octets.removeAll(keepingCapacity: octets.count < 2 * Self.portion)
        }
        do throws(DeliveryError) {
            try file.append(octets, anchor: batch.anchors.last ?? file.state.anchor, day: day, mark: batch.mark.map(Self.mark))
        } catch {
            // How far it is whole is read anew.
            self.file = nil
            throw error
        }
        return leftOut
    }

    private func opened() throws(DeliveryError) -> ExportFile {
        if let file, try file.isCurrent() { return file }
        let zone = context.zone
        let opened = try ExportFile(
            folder: settings.folder, name: context.name, suffix: settings.form.suffix, store: context.store,
            isPacked: settings.isPacked
        ) { day in
            Self.name(of: day, zone)
        }
        file = opened
        return opened
    }

    /// Closes the file.
    public func finish() { file = nil }

    private static func day(_ time: Instant, _ zone: TimeZoneRules) -> Int { CalendarIntervals(.day, zone: zone).index(of: time) }

    /// `20261123`; nothing where files are not of a day.
    private static func name(of day: Int, _ zone: TimeZoneRules) -> String {
        guard day != 0 else { return "" }
        let start = CalendarIntervals(.day, zone: zone).start(of: day)
        let offset = zone.offset(at: start)
        let (days, _) = (start.microseconds &+ Int64(offset.seconds) * 1_000_000).flooredQuotientAndRemainder(
            dividingBy: Calendar.day)
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
