import HealthModel
import HealthServing
import SampleStore

/// What a person can do with a sample on its page: correct and delete it, or restore it. Links lead to the sample that it corrects and
/// to its correction.
struct SampleActions {
    private let sample: Sample
    private let call: PageCall

    init(_ sample: Sample, _ call: PageCall) { (self.sample, self.call) = (sample, call) }

    func html() throws -> HTML {
        let (texts, id) = (call.texts, sample.identity.description)
        let store = try call.reader().store
        var html: HTML = ""
        if let old = sample.corrected {
            html += "<p><a href=\"/page/sample/\(old.description)\">\(texts("correct.old"))</a></p>"
        }
        guard case .live? = try store.samples.lookup(sample.identity) else {
            for new in try Self.corrections(of: sample, in: store) {
                html += "<p><a href=\"/page/sample/\(new.identity.description)\">\(texts("correct.new"))</a></p>"
            }
            guard case .deleted(_, replacedBy: nil)? = try store.samples.lookup(sample.identity) else { return html }
            return html + "<p class=\"problem\">\(texts("deleted.is"))</p>" + Self.restoreForm(id, call)
        }
        let correct: HTML =
            sample.origin.kind == .quantity
            ? "<a class=\"button\" href=\"/page/sample/\(id)/correct\">\(texts("correct.title"))</a> " : ""
        let undo: HTML =
            sample.corrected == nil
            ? ""
            : """
            <form class="inline" method="post" action="/page/sample/\(id)/uncorrect"><button class="quiet">\(texts("correct.undo"))</button></form>
            """
        return html
            + "<p>\(correct)<a class=\"button\" href=\"/page/sample/\(id)/delete\">\(texts("deleted.delete"))</a></p>\(undo)"
    }

    static func restoreForm(_ id: String, _ call: PageCall, name: String? = nil) -> HTML {
        let label: HTML = name.map { " aria-label=\"\(call.texts("deleted.restoreOf", $0))\"" } ?? ""
        return """
            <form class="inline" method="post" action="/page/sample/\(id)/restore"><button class="quiet"\(label)>\(call.texts("deleted.restore"))</button></form>
            """
    }

    /// The samples that correct a deleted sample. They have its source.
    private static func corrections(of sample: Sample, in store: SampleStore) throws -> [Sample] {
        guard sample.origin.kind == .quantity else { return [] }
        let condition = SamplePredicate.comparison(
            .metadata(Correction.key), .equal, .any(sample.identity.description, nil, nil))
        let cursor = try store.samples.cursor(
            matching: SampleQuery(types: [sample.origin.type], source: sample.origin.source.id, where: condition, limit: 8))
        defer { cursor.close() }
        var found: [Sample] = []
        while let next = try cursor.next() { found.append(next.sample) }
        return found
    }
}
