import HealthModel
import Pipeline

/// Recognizes and reads GPX files, which contain recorded tracks (GPX 1.0 and 1.1, https://www.topografix.com/GPX/1/1/).
package enum GPXFile {
    static let root = "gpx"

    /// Whether a file's root element is `gpx`.
    package static func recognises(_ file: InputFile) -> Bool { ElementFile.recognises(file, root: root) }

    /// Passes the rows of a file (``GPXRow``) to `body`.
    ///
    /// - Throws: ``SourceError`` with the first line that cannot be read. The rows before it have been passed.
    static func forEachRow(in input: PrefixedInput, _ body: (TextRow, Place) throws -> Void) throws {
        try parser(of: input).forEachRow(of: input, body)
    }

    /// Passes the rows of a file to `body` in blocks, which another thread may read.
    static func forEachBlock(in input: PrefixedInput, _ body: (RowBlock) throws -> Void) throws {
        try parser(of: input).forEachBlock(of: input, body)
    }

    private static func parser(of input: PrefixedInput) throws(SourceError) -> GPXParser {
        try GPXParser(firstLine: ElementFile.begin(input, root: root, of: "GPX"))
    }
}

/// Reads a GPX file row by row, for ``GPXInterpreter``.
///
///     let source = GPXFileSource(try InputFile(path: "run.gpx"), received: now)
package struct GPXFileSource: ImportedFileSource {
    private let imported: ImportedFile

    package init(_ imported: ImportedFile) { self.imported = imported }

    /// Passes each row to `handle`, in file order.
    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        try GPXFile.forEachRow(in: PrefixedInput(imported.input)) { row, place in
            try handle(imported.frame(.row(row), at: place, GPXRow.channel))
        }
    }
}

/// Interprets GPX files. Each track becomes a route, and the measurements of its locations become samples.
package final class GPXInterpreter: FrameInterpreter {
    private let registry: OriginRegistry
    private var reader = RouteReader()

    /// - Parameter registry: the registry of the person who recorded the tracks.
    package init(registry: OriginRegistry) { self.registry = registry }

    /// Reads a row. The row after a track's locations returns the route.
    package func interpret(_ frame: RawFrame, into readings: inout [Reading]) throws(Refusal) -> FrameOutcome {
        guard case .row(let row) = frame.payload else { throw Refusal("not a row of a GPX file", at: frame.place) }
        let first = readings.count
        switch try reader.read(row, of: frame, registry, into: &readings) {
        case .none: return readings.count > first ? .readings : .notData
        case .skipped(let kind): return .skipped(kind)
        case .track(let locations, let name):
            readings.append(
                try Self.reading(of: locations, name: name, creator: reader.creator, registry: registry, at: frame.place))
            return .readings
        }
    }

    /// Returns the rejected locations, and elements that were not stored.
    package func takeLeftOut() -> LeftOut? { reader.takeLeftOut() }

    /// The program that wrote the file, as a source.
    static func source(_ creator: String) -> SourceRevision {
        SourceRevision(id: "gpx", name: creator.isEmpty ? "GPX" : creator)
    }

    /// Returns a route that no workout refers to.
    static func reading(
        of locations: RouteLocations, name: String?, creator: String, registry: OriginRegistry, at place: Place
    ) throws(Refusal) -> Reading {
        guard let type = SampleType("workoutRoute") else { throw Refusal("the catalogue has no routes", at: place) }
        let route = WorkoutRoute(points: locations.points, name: name)
        guard let body = try? SampleBody(encoding: route, content: locations.content) else {
            throw Refusal("the route cannot be stored", at: place)
        }
        return Reading(
            origin: registry.origin(type: type, source: source(creator)),
            numeral: Numeral(coefficient: 0), unit: .one,
            time: .instants(start: locations.start, end: locations.end, offset: nil), ordinal: locations.mark, body: body,
            place: place)
    }
}
