import HealthModel
import Pipeline

/// Splits an export and the files that belong to it into frames.
final class ExportElementReader {
    private let files: ExportFiles
    private let received: Instant
    private var clinical = ClinicalReferences()
    /// The numbers of files in the archive that are not read, by their name's suffix.
    var passed: [String: Int] = [:]

    init(files: ExportFiles, received: Instant) { (self.files, self.received) = (files, received) }

    func read(
        _ input: PrefixedInput, from offset: Int, line: Int, _ handle: (RawFrame) throws -> Void
    ) throws {
        input.skip(offset)
        try ElementParser(ExportElements(), firstLine: line).forEachRow(of: input) { row, place in
            // Checks the length first, because nearly all rows are records.
            if row[0].count >= 12, try namesFile(row, place, handle) { return }
            try handle(RawFrame(payload: .row(row), place: place, received: received))
        }
    }

    /// Delivers an element that names a file. If the file is next to the export, it is delivered too.
    ///
    /// - Returns: whether the element names a file.
    private func namesFile(_ row: TextRow, _ place: Place, _ handle: (RawFrame) throws -> Void) throws -> Bool {
        if row[0].isText(ExportRow.clinical) {
            try deliver(clinical: row, place, handle)
            return true
        }
        guard row[0].isText(ExportRow.route) else { return false }
        guard !row[2].isEmpty else { return false }
        switch files.find(row[2]) {
        case .later(let key): try deliver(route: row, "later", key, place, handle)
        case .refused(let reason): try deliver(route: row, "refused", Array(reason.utf8), place, handle)
        case .here(let file):
            let name = Array(row[2])
            try deliver(route: row, "here", [], place, handle)
            try deliver(track: TrackFile(FileInput(file)), name, handle)
        }
        return true
    }

    /// Delivers the row of a route with two more cells about its file: a word, and the key or the reason.
    private func deliver(
        route row: TextRow, _ word: String, _ text: [UInt8], _ place: Place, _ handle: (RawFrame) throws -> Void
    ) throws {
        let word = Array(word.utf8)
        try word.withUnsafeBytes { word in
            try text.withUnsafeBytes { text in
                row.cells += [word, text]
                try handle(RawFrame(payload: .row(row), place: place, received: received))
            }
        }
    }

    private func deliver(clinical row: TextRow, _ place: Place, _ handle: (RawFrame) throws -> Void) throws {
        func refuse(_ reason: String) throws {
            try handle(RawFrame(payload: .malformed("clinical record: " + reason), place: place, received: received))
        }
        guard let reference = ClinicalReferences.Reference(row, at: place) else {
            return try refuse("receivedDate is not written as YYYY-MM-DD HH:MM:SS +HHMM")
        }
        switch files.find(row[ExportRow.clinicalColumns.count]) {
        case .later(let key):
            if !clinical.add(reference, for: key) { try refuse("the export has too many of them") }
        case .refused(let reason): try refuse(reason)
        case .here(let file): try ClinicalReferences.deliver(FileInput(file), reference, received: received, handle)
        }
    }

    // MARK: Files

    func read(_ member: ExportArchive.Other, _ handle: (RawFrame) throws -> Void) throws {
        switch member.content {
        case .route(let rows): try deliver(track: rows, member.key, handle)
        case .electrocardiogram(let input):
            try deliver(ElectrocardiogramRow.channel, ElectrocardiogramRow.file, member.key, handle)
            let watched = WatchedInput(input)
            do {
                try ElectrocardiogramFile.forEachLine(in: watched, received: received, handle)
            } catch let error as SourceError {
                if let failure = watched.failure { throw failure }
                try refuse(error, ElectrocardiogramRow.channel, handle)
                return
            }
            try deliver(ElectrocardiogramRow.channel, ElectrocardiogramRow.end, [], handle)
        case .resource(let input):
            guard let reference = clinical.remove(member.key) else {
                // Only the folder of clinical records contains unnamed records.
                guard member.key.starts(with: "clinical-records/".utf8) else {
                    passed["file.json", default: 0] += 1
                    return
                }
                return try ClinicalReferences.deliver(input, .empty(at: Place(.byte, 0)), received: received, handle)
            }
            try ClinicalReferences.deliver(input, reference, received: received, handle)
        }
    }

    /// Reports the files that are named and missing.
    func finish(_ handle: (RawFrame) throws -> Void) throws {
        for (_, reference) in clinical.waiting {
            try handle(
                RawFrame(
                    payload: .malformed("clinical record: its file is missing"), place: reference.place, received: received))
        }
        for (kind, count) in passed.sorted(by: { $0.key < $1.key }) {
            let row = TextRow()
            let cells = ["\(ExportRow.files)", kind, "\(count)"].map { Array($0.utf8) }
            try cells[0].withUnsafeBytes { name in
                try cells[1].withUnsafeBytes { kind in
                    try cells[2].withUnsafeBytes { count in
                        row.cells = [name, kind, count]
                        try handle(RawFrame(payload: .row(row), place: Place(.line, 1), received: received))
                    }
                }
            }
        }
        try deliver("", ExportRow.filesEnd, [], handle)
    }

    /// Delivers the rows of a GPX file between a row for its start and one for its end. An error in the file ends its route and not the
    /// import.
    private func deliver(track: any RowInput, _ name: [UInt8], _ handle: (RawFrame) throws -> Void) throws {
        try deliver(GPXRow.channel, GPXRow.file, name, handle)
        var isHandling = false
        do {
            try track.forEachRow { row, place in
                isHandling = true
                try handle(RawFrame(payload: .row(row), place: place, received: received, channel: GPXRow.channel))
                isHandling = false
            }
        } catch let error as SourceError where !isHandling {
            if let failure = track.failure { throw failure }
            return try refuse(error, GPXRow.channel, handle)
        }
        try deliver(GPXRow.channel, GPXRow.end, [], handle)
    }

    private func refuse(_ error: SourceError, _ channel: String, _ handle: (RawFrame) throws -> Void) throws {
        try handle(
            RawFrame(
                payload: .malformed(error.reason), place: error.place ?? Place(.line, 1), received: received, channel: channel))
    }

    private func deliver(
        _ channel: String, _ word: StaticString, _ text: [UInt8], _ handle: (RawFrame) throws -> Void
    ) throws {
        let row = TextRow()
        try text.withUnsafeBytes { text in
            row.cells = [UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount), text]
            try handle(RawFrame(payload: .row(row), place: Place(.line, 1), received: received, channel: channel))
        }
    }
}

/// A GPX file next to the export.
private final class TrackFile: RowInput {
    private let input: WatchedInput
    var failure: SourceError? { input.failure }

    init(_ input: any ByteInput) { self.input = WatchedInput(input) }

    func forEachRow(_ body: (TextRow, Place) throws -> Void) throws { try GPXFile.forEachRow(in: PrefixedInput(input), body) }
}

/// Remembers an error of the underlying input, to distinguish it from an error in the contents.
final class WatchedInput: ByteInput {
    private let input: any ByteInput
    private(set) var failure: SourceError?

    init(_ input: any ByteInput) { self.input = input }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        do throws(SourceError) {
            return try input.read(into: buffer)
        } catch {
            failure = error
            throw error
        }
    }
}
