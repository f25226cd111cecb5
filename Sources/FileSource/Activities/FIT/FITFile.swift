import HealthModel
import Pipeline

/// Recognizes and reads FIT files: activities that watches and bicycle computers record (https://developer.garmin.com/fit/).
package enum FITFile {
    /// Whether the file begins with a FIT header.
    package static func recognises(_ file: InputFile) -> Bool {
        let head = try? PrefixedInput(FileInput(file)).look(at: 12) { Array($0) }
        guard let head, head.count == 12 else { return false }
        return (head[0] == 12 || head[0] == 14) && head[8...] == [0x2E, 0x46, 0x49, 0x54]
    }
}

/// Reads a FIT file row by row, for ``ActivityInterpreter``.
///
/// The file is read twice. The first pass finds the checksum at its end, the recording device and the sport. A damaged file returns no
/// rows.
///
/// A file can contain several FIT files in sequence: activities, and files that watches append (a strap's heart rates, settings). Each
/// has its own checksum, and a damaged one is rejected alone. For a part that is not an activity, the messages are counted by name.
package struct FITFileSource: ImportedFileSource {
    private let imported: ImportedFile

    package init(_ imported: ImportedFile) { self.imported = imported }

    /// Passes each row to `handle`. Activities come in the order of their starts, points in the order of the file.
    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let parts = try parts()
        var rows = ExportRows()
        defer { rows.deallocate() }
        let row = TextRow()
        func flush() throws {
            try rows.forEach(in: row) { place in
                try handle(imported.frame(.row(row), at: place, ActivityRow.fit))
            }
            rows.removeFinished()
        }
        let bounds = TimeBounds(received: imported.received)
        var (part, open) = (0, -1)
        var reader = FITReader(imported.input)
        try reader.forEachEvent { event, offset in
            guard part < parts.count else { throw SourceError(.malformed, "the file was changed while it was read") }
            let place = Place(.byte, offset)
            switch (event, parts[part]) {
            case (.message(let message), .read(let summary)) where summary.isActivity:
                guard message.definition.message == FITProfile.Message.record else { return }
                // An invalid time does not identify the session.
                let time = FITSummary.date(message.time).flatMap {
                    bounds.fault(of: FITSummary.microseconds($0)) == nil ? $0 : nil
                }
                let session = time.map { summary.session(at: $0) } ?? max(open, 0)
                Self.advance(&open, to: session, summary, &rows, at: place)
                rows.append(ActivityRow.point, Self.point(message), at: place)
            case (.message, _): return
            case (_, .read(let summary)):
                if summary.isActivity { Self.advance(&open, to: max(summary.sessions.count, 1), summary, &rows, at: place) }
                for (name, count) in summary.skips.counts(isActivity: summary.isActivity) {
                    rows.append(ActivityRow.skip, [Array(name.utf8), Array("\(count)".utf8)], at: place)
                }
                (part, open) = (part + 1, -1)
            case (_, .broken(let error)):
                let reason = "file \(part + 1) of \(parts.count) in one: \(error.reason)"
                rows.append(ActivityRow.refused, [Array(reason.utf8)], at: error.place ?? place)
                (part, open) = (part + 1, -1)
            }
            try flush()
        }
    }

    private enum Part {
        case read(FITSummary)
        case broken(SourceError)
    }

    /// - Throws: ``SourceError`` if the file contains no readable activity.
    private func parts() throws -> [Part] {
        var parts: [Part] = []
        var summary = FITSummary()
        var failure: SourceError?
        var reader = FITReader(FileInput(imported.file))
        try reader.forEachEvent { event, offset in
            switch event {
            case .message(let message):
                guard failure == nil else { return }
                do throws(SourceError) { try summary.add(message, at: offset) } catch { failure = error }
                return
            case .broken(let error): parts.append(.broken(failure ?? error))
            case .end: parts.append(failure.map { .broken($0) } ?? .read(summary))
            }
            guard parts.count <= 1000 else { throw SourceError(.malformed, "the file contains more than 1000 FIT files") }
            (summary, failure) = (FITSummary(), nil)
        }
        try Self.check(parts)
        return parts
    }

    /// - Throws: ``SourceError`` if there is no activity. It names the damage, or else the type of the first part.
    private static func check(_ parts: [Part]) throws(SourceError) {
        var type: UInt64?
        var damage: SourceError?
        for part in parts.reversed() {
            switch part {
            case .read(let summary) where summary.isActivity: return
            case .read(let summary): type = summary.file
            case .broken(let error): damage = error
            }
        }
        let words = type.map { "\($0)" } ?? "unknown"
        throw damage ?? SourceError(.malformed, "it is a FIT file of type \(words), and only activities (type 4) are supported")
    }

    /// Ends and begins activities until `session` is open. A session after the last ends all of them.
    private static func advance(
        _ open: inout Int, to session: Int, _ summary: FITSummary, _ rows: inout ExportRows, at place: Place
    ) {
        while open < session {
            if open >= 0 { end(open, summary, &rows, at: place) }
            open += 1
            if open < max(summary.sessions.count, 1) {
                rows.append(ActivityRow.activity, summary.activity(open), at: place)
            }
        }
    }

    private static func end(_ session: Int, _ summary: FITSummary, _ rows: inout ExportRows, at place: Place) {
        guard session < max(summary.sessions.count, 1) else { return }
        for pause in summary.pauses where summary.session(at: pause.time) == session {
            rows.append(
                ActivityRow.event, [FITSummary.seconds(pause.time), Array("\(pause.type)".utf8)], at: Place(.byte, pause.offset))
        }
        for lap in summary.laps where summary.session(at: lap.start ?? 0) == session {
            rows.append(ActivityRow.lap, lap.figures, at: Place(.byte, lap.offset))
        }
        guard session < summary.sessions.count else {
            return rows.append(
                ActivityRow.end, [[UInt8]](repeating: [], count: ActivityRow.Figures.count - 1), at: place)
        }
        rows.append(ActivityRow.end, summary.sessions[session].figures, at: Place(.byte, summary.sessions[session].offset))
    }

    private static func point(_ message: FITMessage) -> [[UInt8]] {
        typealias Column = ActivityRow.Point
        var cells = [[UInt8]](repeating: [], count: Column.count - 1)
        func set(_ column: Int, _ number: UInt64?, _ exponent: Int16 = 0) {
            if let number { cells[column - 1] = FITSummary.decimal(Int64(clamping: number), exponent) }
        }
        cells[Column.time - 1] = FITSummary.seconds(message.time)
        cells[Column.latitude - 1] = degrees(message.signed(0))
        cells[Column.longitude - 1] = degrees(message.signed(1))
        // In fifths of a meter, starting 500 m below sea level.
        if let altitude = message.unsigned(78) ?? message.unsigned(2), altitude < 1 << 40 {
            cells[Column.altitude - 1] = FITSummary.decimal(Int64(altitude) * 2 - 5000, -1)
        }
        set(Column.heartRate, message.unsigned(3))
        set(Column.power, message.unsigned(7))
        set(Column.speed, message.unsigned(73) ?? message.unsigned(6), -3)
        if let cadence = message.unsigned(4) {
            // The fraction is in 128ths.
            let part = message.unsigned(53) ?? 0
            if part > 0, part < 128, cadence < 256 {
                cells[Column.cadence - 1] = FITSummary.decimal(Int64(cadence) * 10_000_000 + Int64(part) * 78_125, -7)
            } else {
                set(Column.cadence, cadence)
            }
        }
        return cells
    }

    /// Converts semicircles to degrees (2^31 semicircles are 180 degrees). Eight decimals keep each value distinct.
    private static func degrees(_ semicircles: Int64?) -> [UInt8] {
        guard let semicircles, semicircles.magnitude <= 1 << 31 else { return [] }
        // 180e8 / 2^31 is 17578125 / 2^21.
        let product = semicircles * 17_578_125
        let half: Int64 = product < 0 ? -(1 << 20) : 1 << 20
        return FITSummary.decimal((product + half) / (1 << 21), -8)
    }
}
