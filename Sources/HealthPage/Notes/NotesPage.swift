import Formats
import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The page for a person's notes and tags on days. Charts mark these days, and Today shows those of the day.
enum NotesPage {
    static let routes = [
        PageRoute(method: "GET", path: "notes", answer: page),
        PageRoute(method: "POST", path: "notes", body: 16_384, answer: change),
    ]

    private static let listed = 365

    private static func notes(_ call: PageCall, from first: Instant, through last: Instant) throws -> [Annotation] {
        try call.records().annotations(from: call.times.date(first), through: call.times.date(last))
    }

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse { .page(try whole(FormFields(call: call), call)) }

    private static func whole(_ fields: FormFields, _ call: PageCall) throws -> HTML {
        let texts = call.texts
        let days = CalendarIntervals(.day, zone: call.zone)
        let first = days.start(of: days.index(of: call.now) - listed)
        let notes = try notes(call, from: first, through: Instant(microseconds: call.now.microseconds + 86_400_000_000))
        let items: [HTML] = notes.reversed().map { item($0, call) }
        let body: HTML = """
            <h1>\(texts("notes.title"))</h1>
            <p>\(texts("notes.how"))</p>
            <form class="entry" method="post" action="/page/notes">\(FormFields.hidden([("do", "add")]))
            \(fields.input("day", texts("clients.day"), value: fields.typed("day") ?? call.times.date(call.now), type: "date", attributes: "required"))\
            \(fields.input("tags", texts("notes.tags"), value: fields.typed("tags") ?? "", attributes: "autocomplete=\"off\""))\
            <div class="field"><label for="note">\(texts("notes.note"))</label>
            <textarea id="note" name="note" rows="3" maxlength="2000">\(call.text("note") ?? "")</textarea></div>
            <button>\(texts("notes.add"))</button></form>
            <h2>\(texts("notes.listed"))</h2>
            \(HTML.choose(items.isEmpty, "<p>\(texts("notes.none"))</p>", "<ul class=\"notes\">\(items)</ul>"))
            """
        return PageLayout(call: call, title: texts("notes.title")).whole(body)
    }

    /// The tags and the text of a note.
    private static func contents(_ note: Annotation) -> HTML {
        let tags: [HTML] = note.tags.map { "<span class=\"tag\">\($0)</span> " }
        return "\(tags)\(HTML.choose(!note.note.isEmpty, "<span class=\"text\">\(note.note)</span>"))"
    }

    private static func item(_ note: Annotation, _ call: PageCall) -> HTML {
        let texts = call.texts
        return """
            <li><time datetime="\(note.day)">\(call.times.written(note.day))</time> \(contents(note))
            <form class="inline" method="post" action="/page/notes">\(FormFields.hidden([("do", "remove"), ("id", "\(note.id)")]))\
            <button class="quiet" aria-label="\(texts("notes.removeOf", call.times.written(note.day)))">\(texts("notes.remove"))</button></form></li>

            """
    }

    /// The notes of today, for Today. Empty if there are none.
    static func today(_ call: PageCall) throws -> HTML {
        let items: [HTML] = try notes(call, from: call.now, through: call.now).map { "<li>\(contents($0))</li>\n" }
        guard !items.isEmpty else { return "" }
        let texts = call.texts
        return """
            <ul class="notes" aria-label="\(texts("notes.title"))">\(items)<li><a class="s" href="/page/notes">\(texts("notes.title"))</a></li></ul>
            """
    }

    /// The days with notes as events of a chart. They last the whole day.
    static func events(_ frame: ChartFrame, _ call: PageCall) throws -> [JSONObject] {
        let days = CalendarIntervals(.day, zone: call.zone)
        return try notes(call, from: frame.start, through: frame.end).compactMap { note in
            guard let start = Instant(iso8601: note.day, zone: call.zone) else { return nil }
            let end = days.start(of: days.index(of: start) + 1)
            return JSONObject([
                "kind": "annotation", "name": (note.tags + [note.note]).filter { !$0.isEmpty }.joined(separator: ", "),
                "from": Int(start.microseconds / 1000), "to": Int(end.microseconds / 1000),
            ])
        }
    }

    @Sendable private static func change(_ call: PageCall) throws -> HTTPResponse {
        switch call.text("do") {
        case "add":
            var fields = FormFields(call: call)
            let day = fields.typed("day").flatMap {
                Instant(iso8601: $0, zone: call.zone) != nil && $0.utf8.count == 10 ? $0 : nil
            }
            let tags = (fields.typed("tags") ?? "").split(separator: ",").map { trimmed(String($0)) }.filter { !$0.isEmpty }
            // Browsers send line breaks as CR LF.
            let note = trimmed((call.text("note") ?? "").filter { $0 != "\r" }.replacing("\r\n", with: "\n"))
            if day == nil { fields.errors["day"] = "notes.wrong.day" }
            let bounds = SampleStore.People.annotationBounds
            if tags.count > bounds.tags || tags.contains(where: { $0.utf8.count > bounds.tag }) {
                fields.errors["tags"] = "notes.wrong.tags"
            }
            if tags.isEmpty && note.isEmpty { fields.errors["tags"] = "notes.wrong.empty" }
            guard fields.errors.isEmpty, let day else { return .page(try whole(fields, call), status: 422) }
            try call.doing { try call.changes().annotate(day: day, tags: tags, note: note) }
        case "remove":
            guard let id = call.text("id").flatMap({ Int64($0) }), try call.changes().removeAnnotation(id)
            else {
                throw PageProblem(404, "note")
            }
        default: throw PageProblem(400, "field", "do")
        }
        return call.see("/page/notes")
    }

    private static func trimmed(_ text: String) -> String {
        var text = text[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
