import HealthModel
import Pipeline

/// A walk through the text of a post of an app. The format of an app is one walk.
package protocol PostWalk: AnyObject {
    /// The position of an element: the name of its list, or its metric.
    associatedtype Element
    /// Receives the position of an element, and its JSON, or `nil` if it is too long.
    typealias Handler = (Element, UnsafeRawBufferPointer?) throws -> Void

    /// The maximum length of an element in bytes.
    static var maximumElement: Int { get }

    init(_ stream: JSONStream, onElement: @escaping Handler)

    /// Reads to the end of the text.
    ///
    /// - Throws: ``SourceError`` if the text is cut or malformed, or is of another app.
    func run() throws

    /// The members that are not read.
    var unread: Unread { get }
    /// The rows before all elements. This and the following are asked after a run.
    var facts: [[String]] { get }
    /// The row before an element, such as its metric, or `nil` if it is that of the previous one.
    func heading(of element: Element, after previous: Element?) -> [String]?
    /// The cells of a row before the JSON of the element.
    func cells(of element: Element) -> [String]
}

/// Reads a post of an app, element by element.
///
/// The members of an object come in any order, so a name can follow its values. The text is therefore read twice. The first pass checks all
/// of it: a post that is cut or malformed is refused as a whole, so that a request is stored completely or not at all.
package final class PostSource<Walk: PostWalk>: FrameSource {
    package private(set) var unread = Unread()
    private let open: () -> any ByteInput
    private let received: Instant
    private var surveyed: Walk?

    package init(_ file: InputFile, received: Instant, meter: ReadMeter? = nil) {
        open = { FileInput(file, meter: meter) }
        self.received = received
    }

    /// Reads bytes from memory, for tests.
    package init(bytes: [UInt8], received: Instant) {
        open = { MemoryInput(bytes) }
        self.received = received
    }

    /// Checks the whole text, without which no frame is delivered.
    ///
    /// - Throws: ``SourceError`` if the text is cut or malformed.
    package func survey() throws { surveyed = try walked { _, _ in } }

    private func walked(_ onElement: @escaping Walk.Handler) throws -> Walk {
        let walk = Walk(try JSONStream(open(), maximumValue: Walk.maximumElement), onElement: onElement)
        try walk.run()
        return walk
    }

    /// Passes the facts about the post and each of its elements to `handle`.
    package func forEachFrame(_ handle: (RawFrame) throws -> Void) throws {
        let survey = try surveyed ?? walked { _, _ in }
        unread = survey.unread
        try withoutActuallyEscaping(handle) { handle in
            func deliver(_ payload: RawFrame.Payload, _ number: Int) throws {
                try handle(RawFrame(payload: payload, place: Place(.record, number), received: received))
            }
            for fact in survey.facts { try TextRow.with(fact) { try deliver(.row($0), 0) } }
            var (number, previous) = (0, Walk.Element?.none)
            _ = try walked { element, json in
                if let heading = survey.heading(of: element, after: previous) {
                    try TextRow.with(heading) { try deliver(.row($0), 0) }
                }
                previous = element
                number += 1
                guard let json else {
                    return try deliver(.malformed("it is longer than \(Walk.maximumElement >> 20) MiB"), number)
                }
                try TextRow.with(survey.cells(of: element), json) { try deliver(.row($0), number) }
            }
        }
    }
}
