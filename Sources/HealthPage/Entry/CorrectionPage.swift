import HTTPServerKit
import HealthModel
import HealthServing
import Pipeline
import SampleStore

/// The page that corrects a sample. The old sample is deleted, and the typed one is stored with a link to it.
enum CorrectionPage {
    static let routes = [
        PageRoute(method: "GET", path: "sample/*/correct", answer: page),
        PageRoute(method: "POST", path: "sample/*/correct", body: 4096, answer: correct),
        PageRoute(method: "POST", path: "sample/*/uncorrect", answer: undo),
    ]

    /// The person's own live sample of the path.
    static func sample(_ call: PageCall) throws -> Sample {
        guard let uuid = SampleIdentity(call.variables[0]), let stored = try call.reader().store.samples.sample(uuid) else {
            throw PageProblem(404, "sample")
        }
        return stored.sample
    }

    private static func members(_ call: PageCall) throws -> [Sample] {
        let sample = try sample(call)
        guard sample.origin.kind == .quantity else { throw PageProblem(404, "notNumber") }
        return try call.reader().store.samples.correctable(with: sample)
    }

    private static func form(_ members: [Sample], _ call: PageCall) -> (form: EntryForm, shown: EntryForm.Shown) {
        let unit = call.values.unit(of: members[0].origin.type)
        let values = members.map { member in
            if member.unit == unit { return PageValues.local(member.numeral.text) }
            let conversion = try? call.values.conversion(of: member.origin.type, to: unit)
            return conversion.map { PageValues.local(PageValues.plain($0(member.value))) } ?? ""
        }
        let (start, hub) = (members[0].start, call.core.settings.zone)
        let offset = members[0].zone ?? hub.offset(at: start)
        let wall = start.wallTime(at: offset)
        let length = EntryForm.minuteLength + (wall.microseconds % 60_000_000 / 1_000_000 == 0 ? 0 : 3)
        let shown = EntryForm.Shown(
            values: values, unit: unit, at: String(wall.description.prefix(length)),
            zone: hub.offset(at: start) == offset ? hub.identifier : offset.description)
        var form = EntryForm(types: members.map(\.origin.type), call)
        form.shown = shown
        return (form, shown)
    }

    @Sendable private static func page(_ call: PageCall) throws -> HTTPResponse {
        let members = try members(call)
        return .page(whole(form(members, call).form, members, call))
    }

    private static func whole(_ form: EntryForm, _ members: [Sample], _ call: PageCall) -> HTML {
        let (texts, id) = (call.texts, call.variables[0])
        let body: HTML = """
            <h1>\(texts("correct.of", members.map { call.values.name(of: $0.origin.type) }.joined(separator: ", ")))</h1>
            <p>\(texts("correct.how"))</p>
            <form class="entry" method="post" action="/page/sample/\(id)/correct">
            \(form.html)<button>\(texts("correct.save"))</button></form>
            <p><a href="/page/sample/\(id)">\(texts("entry.cancel"))</a></p>
            """
        return PageLayout(call: call, title: texts("correct.title")).whole(body)
    }

    @Sendable private static func correct(_ call: PageCall) throws -> HTTPResponse {
        let members = try members(call)
        var (form, shown) = form(members, call)
        guard let correction = form.correction(of: shown) else { return .page(whole(form, members, call), status: 422) }
        // A form that was sent without a change changes nothing.
        guard correction.start != nil || correction.amounts.contains(where: { $0 != nil }) else {
            return call.see("/page/sample/\(call.variables[0])")
        }
        do {
            var new: SampleIdentity?
            try call.doing {
                new = try call.changes().correct(members.map(\.identity), with: correction, at: call.now)
            }
            return call.see("/page/sample/\(new?.description ?? call.variables[0])")
        } catch let error as CorrectionError {
            form.fail(
                "value",
                error == .duplicate ? "correct.duplicate" : error == .quarantined ? "correct.impossible" : "entry.wrong.refused")
        } catch is Refusal {
            form.fail("value", "entry.wrong.refused")
        }
        return .page(whole(form, members, call), status: 422)
    }

    @Sendable private static func undo(_ call: PageCall) throws -> HTTPResponse {
        let sample = try sample(call)
        var old: [SampleIdentity] = []
        try call.doing { old = try call.changes().undoCorrection(sample.identity, at: call.now) ?? [] }
        return call.see("/page/sample/\(old.first?.description ?? call.variables[0])")
    }
}

extension PageValues {
    /// A number for a form field, without grouping: `72.5`.
    static func plain(_ value: Double) -> String {
        let rounded = (value * 1000).rounded() / 1000
        return rounded.magnitude < 1e15 && rounded == rounded.rounded() ? "\(Int64(rounded))" : "\(rounded)"
    }
}
