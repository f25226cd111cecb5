import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// What a page shows of an object besides its value, by kind.
enum KindPage {
    static func object(_ sample: Sample, _ reader: Reader, _ call: PageCall) throws -> HTML {
        switch sample.origin.kind {
        case .workout: try WorkoutKind.html(sample, reader, call)
        case .workoutRoute: RouteDrawing.html(of: sample, call)
        case .electrocardiogram: ElectrocardiogramKind.html(sample, call)
        case .audiogram: AudiogramKind.html(sample, call)
        case .clinicalRecord: try RecordKind.html(sample, reader, call)
        case .document: DocumentKind.html(sample, call)
        case .medicationDoseEvent: MedicationKind.html(sample, call)
        case .stateOfMind: StateOfMindKind.html(sample, call)
        default: ""
        }
    }

    /// The history of a type, above its latest samples.
    static func history(of type: SampleType, _ reader: Reader, _ call: PageCall) throws -> HTML {
        switch type.id {
        case "sleepAnalysis": try NightsKind.html(reader, call)
        case "workout": try WorkoutsKind.html(reader, call)
        case "medicationDoseEvent": try MedicationKind.list(reader, call)
        case "bloodGlucose": try GlucoseDay.html(reader, call)
        default: ""
        }
    }

    // MARK: A day of the address

    /// The number of the day that the address names. It is today if the day has not come.
    ///
    /// - Throws: ``PageProblem`` 400 if it is not a date.
    static func day(_ call: PageCall) throws -> Int? {
        guard let text = call.text("date") else { return nil }
        guard text.utf8.count == 10, let start = Instant(iso8601: text, zone: call.zone) else { throw PageProblem(400, "date") }
        let days = CalendarIntervals(.day, zone: call.zone)
        return min(days.index(of: start), days.index(of: call.now))
    }

    /// The address of a type's page for a day.
    static func address(of type: String, on day: Int, _ call: PageCall) -> String {
        "/page/type/\(type)?date=\(call.times.date(CalendarIntervals(.day, zone: call.zone).start(of: day)))"
    }

    /// A field for a day and a button that shows it. It needs no script.
    static func dayForm(of type: String, on day: Int?, _ call: PageCall) -> HTML {
        let date = day.map { call.times.date(CalendarIntervals(.day, zone: call.zone).start(of: $0)) } ?? ""
        let range = call.text("range").flatMap(ChartWindow.Range.init(rawValue:)).map { [(name: "range", value: $0.rawValue)] }
        return """
            <form class="pager" method="get" action="/page/type/\(type)">\(FormFields.hidden(range ?? []))\
            <label>\(call.texts("type.day")) <input type="date" name="date" value="\(date)" max="\(call.times.date(call.now))" required></label>\
            <button class="quiet">\(call.texts("type.toDay"))</button></form>
            """
    }

    /// A table that scrolls by itself. A column without content is omitted.
    ///
    /// - Parameter rows: Cells by row, as many as there are heads. The first cell is the heading of its row.
    static func table(_ id: String, _ caption: String, _ heads: [String], _ rows: [[HTML]]) -> HTML {
        guard !rows.isEmpty else { return "" }
        let shown = heads.indices.dropFirst().filter { column in rows.contains { !["", "–"].contains($0[column].text) } }
        let lines: [HTML] = rows.map { row in
            let cells: [HTML] = shown.map { "<td>\(row[$0])</td>" }
            return "<tr><th scope=\"row\">\(row[0])</th>\(cells)</tr>"
        }
        let titles: [HTML] = ([0] + shown).map { "<th scope=\"col\">\(heads[$0])</th>" }
        return """
            <div class="scroll" role="region" tabindex="0" aria-labelledby="\(id)"><table><caption id="\(id)">\(caption)</caption>
            <thead><tr>\(titles)</tr></thead><tbody>\(lines)</tbody></table></div>
            """
    }

    /// Content that a press opens, below the content that the page shows first.
    static func more(_ title: String, _ content: HTML, isOpen: Bool = false) -> HTML {
        content.text.isEmpty
            ? "" : "<details class=\"behind\"\(HTML.choose(isOpen, " open"))><summary>\(title)</summary>\(content)</details>"
    }

    /// Facts as a list of terms. Facts without a text are omitted.
    static func facts(_ facts: [(term: String, text: String?)]) -> HTML {
        let items: [HTML] = facts.compactMap { fact in
            guard let text = fact.text, !text.isEmpty else { return nil }
            return "<dt>\(fact.term)</dt><dd>\(text)</dd>"
        }
        return items.isEmpty ? "" : "<dl>\(items)</dl>"
    }

    static func cell(_ text: String) -> HTML { "\(text)" }
}
