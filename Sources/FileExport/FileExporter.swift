import Formats
import Glibc
import HealthModel
import Pipeline

/// Writes changes into a sequence of files in a folder: the NDJSON lines of `changes` with complete objects, or CSV rows.
///
/// The growing file is `NAME.ndjson`. When it is long enough or a new day begins, it gets its final name,
/// `NAME-20261123-000001.ndjson`, and never changes again. `NAME.state` is written after the lines and contains the acknowledged
/// length. Anything after that length, left by a crash or a power cut, is cut off and written again, so each change is there
/// once.
package final class FileExporter: Exporter {
    package enum Form: String, Sendable, CaseIterable {
        /// Lines as printed by `changes`.
        case ndjson
        /// CSV rows as in `query --format csv`, with the kind of change in front.
        case csv
        /// Open mHealth data points, for the types with a published schema.
        case openMHealth = "open-mhealth"

        var suffix: String {
            switch self {
            case .ndjson: "ndjson"
            case .csv: "csv"
            case .openMHealth: "omh.ndjson"
            }
        }
    }

    /// The kinds that the format supports. NDJSON and CSV support all.
    package var kinds: Set<SampleKind> { settings.form == .openMHealth ? DataPointLine.kinds : Set(SampleKind.allCases) }

    package var reportsRecords: Bool { settings.form == .ndjson }

    package struct Settings: ExporterSettings {
        /// `folder`, `format`, `limit` in MiB, `daily`, `pack`.
        package static let settings = Key.settings
        /// The folder. It is created with mode 0700 if it does not exist.
        package var folder: String
        package var form = Form.ndjson
        /// The length in bytes from which a file gets its final name.
        package var limit = 64 << 20
        /// Whether each file has the changes of one day.
        package var isDaily = true
        /// Whether files with their final name are compressed with zstd.
        package var isPacked = false

        /// Creates settings. The defaults are 64 MiB per file and daily files.
        package init(
            folder: String, form: Form = .ndjson, limit: Int = 64 << 20, isDaily: Bool = true, isPacked: Bool = false
        ) {
            (self.folder, self.form, self.limit, self.isDaily, self.isPacked) = (folder, form, limit, isDaily, isPacked)
        }

        private enum Key: String, ExporterSettingKey {
            case folder, format, limit, daily, pack

            var form: ExporterSetting.Form {
                switch self {
                case .limit: .number
                case .daily: .boolean
                default: .text
                }
            }
        }

        /// - Throws: ``SettingsFault`` if a value is invalid.
        package init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Key.self)
            folder = try members.decode(String.self, forKey: .folder)
            guard folder.hasPrefix("/") else { throw SettingsFault("folder", "the folder's path must begin with /") }
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

    /// The maximum number of changes in a batch, some megabytes. Each batch is one disk commit.
    package let batchLimit = 4096
    /// True because a crash repeats the last batch, which is recognised by its last anchor.
    package let isOrdered = true
    package let repeatsSamples = true
    let settings: Settings
    private let text: ChangeText
    let context: ExportContext
    private var file: ExportFile?
    /// The maximum size in bytes of lines written at once. A batch of routes and documents is larger than the memory should be.
    private static let portion = 4 << 20
    /// The lines of a batch. The buffer is kept because allocating megabytes costs more than filling them.
    private var bytes: [UInt8] = []

    /// Creates an exporter without opening a file.
    package init(_ settings: Settings, context: ExportContext) {
        (self.settings, self.context) = (settings, context)
        text = ChangeText(settings.form, context)
    }

    /// The target's address without credentials. Another address is another target.
    package var address: String { settings.folder }

    /// The settings that affect the contents. A change stops the target until it is rewritten.
    package var shape: String { settings.form == .ndjson ? "" : "format=\(settings.form.rawValue)" }

    /// The mark that the last delivery left at the target; `nil` if the target keeps none.
    package func found() throws(DeliveryError) -> FoundMark? { try foundMark() }

    private func foundMark() throws(DeliveryError) -> FoundMark {
        let state = try ExportFile.state(
            folder: settings.folder, name: context.name, suffix: settings.form.suffix, store: context.store)
        let mark = state?.mark.map {
            TargetMark(
                identity: $0.identity, count: $0.count, anchor: state?.anchor ?? "0", holder: $0.holder, time: $0.time)
        }
        return FoundMark(identity: mark?.identity, mark: mark, absence: absence)
    }

    private var absence: String {
        "\(settings.folder) does not have the files of this target, for example because its disk is not mounted: "
            + "delivery continues when they are there again. If they are lost, run 'vitalgate targets restart \(context.name)'"
    }

    /// Writes a mark before the first delivery, so that the target belongs to this store.
    package func claim(_ mark: TargetMark) throws(DeliveryError) -> Bool {
        // If everything is rewritten from the beginning, nothing is delivered yet.
        let file = try opened()
        try file.claim(Self.mark(mark), anchor: mark.anchor == "0" ? nil : file.state.anchor)
        return true
    }

    private static func mark(_ mark: TargetMark) -> ExportFile.Mark {
        ExportFile.Mark(identity: mark.identity, count: mark.count, holder: mark.holder, time: mark.time)
    }

    /// Checks that the folder exists and can be written.
    package func check() throws(DeliveryError) -> [Finding] {
        var status = stat()
        guard stat(settings.folder, &status) == 0 else {
            guard errno == ENOENT else { throw ExportFile.error(settings.folder) }
            return [Finding(.warning, settings.folder, "does not exist yet, and the first delivery creates it")]
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw DeliveryError(.unfit, "\(settings.folder): it is not a folder") }
        guard access(settings.folder, W_OK | X_OK) == 0 else { throw ExportFile.error(settings.folder) }
        return [Finding(.good, settings.folder, "can be written")]
    }

    /// Appends the lines of a batch durably, without those that are already there.
    package func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        // A disk may be gone. Nothing is created in its empty mount point.
        if batch.mark != nil, try foundMark().mark == nil {
            file = nil
            throw DeliveryError(.unreachable, absence)
        }
        let file = try opened()
        if let mark = batch.mark, file.state.mark?.count != mark.count - 1 || file.state.mark?.identity != mark.identity {
            throw DeliveryError(
                .unreachable, "another program has delivered to the folder, or the folder was restored from a backup")
        }
        // Changes that were delivered without an acknowledgement reaching the hub.
        let known = file.state.anchor.flatMap { batch.anchors.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
        guard known < batch.changes.count else {
            if let mark = batch.mark { try file.claim(Self.mark(mark), anchor: file.state.anchor) }
            return 0
        }
        let day = settings.isDaily ? Self.day(context.now(), context.zone) : 0
        if file.state.length > 0, file.state.length >= settings.limit || file.state.day != day {
            try file.close()
        }
        bytes.removeAll(keepingCapacity: true)
        if file.state.length == 0 { bytes += text.head }
        var leftOut = 0
        for index in known..<batch.changes.count {
            let anchor = batch.anchors.isEmpty ? "" : batch.anchors[index]
            if !text.append(batch.changes[index], anchor: anchor, to: &bytes) { leftOut += 1 }
            guard bytes.count >= Self.portion else { continue }
            do throws(DeliveryError) {
                try file.write(bytes)
            } catch {
                self.file = nil
                throw error
            }
            // Releases the memory of a single large object.
            bytes.removeAll(keepingCapacity: bytes.count < 2 * Self.portion)
        }
        do throws(DeliveryError) {
            try file.append(bytes, anchor: batch.anchors.last ?? file.state.anchor, day: day, mark: batch.mark.map(Self.mark))
        } catch {
            // The state is read again from the file.
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

    package func finish() { file = nil }

    private static func day(_ time: Instant, _ zone: TimeZoneRules) -> Int { CalendarIntervals(.day, zone: zone).index(of: time) }

    /// Returns a day as `20261123`, or an empty text if files are not daily.
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
