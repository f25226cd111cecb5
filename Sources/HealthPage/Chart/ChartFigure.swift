import HealthAnswers
import HealthModel
import HealthServing

/// A chart and its controls. The script `chart.js` draws it. Without scripts, the tables below show the same data.
struct ChartFigure {
    let call: PageCall
    /// The type that is shown first.
    let type: SampleType
    let first: ChartWindow.Range
    let others: [SampleType]
    /// Whether several sources have samples of the type.
    let hasSources: Bool

    /// The time zones to choose from, in addition to the hub's own.
    private static let zones = [
        "UTC", "Europe/London", "Europe/Berlin", "Europe/Athens", "America/New_York", "America/Chicago", "America/Los_Angeles",
        "Asia/Kolkata", "Asia/Tokyo", "Australia/Sydney",
    ]

    private func choices(_ type: SampleType) -> [Unit] { call.values.choices(of: type) }

    var html: HTML {
        let texts = call.texts
        let zones: [HTML] =
            ([call.core.settings.zone.identifier]
            + Self.zones.filter { $0 != call.core.settings.zone.identifier && call.core.settings.zones($0) != nil }).map {
                "<option>\($0)</option>"
            }
        let units: [HTML] = choices(BloodPressure.measuredType(of: type)).map {
            "<option value=\"\($0.code)\">\(call.values.symbol($0))</option>"
        }
        let more: [HTML] = others.map { "<option value=\"\($0.id)\">\(call.values.name(of: $0))</option>" }
        let unit: HTML =
            units.count < 2
            ? "" : "<label>\(texts("chart.unit")) <select data-key=\"unit\" data-unit-choice>\(units)</select></label>"
        let aside: HTML =
            more.isEmpty
            ? ""
            : """
            <label>\(texts("chart.beside")) <select data-key="with" data-beside><option value="">\(texts("chart.nothing"))</option>\(more)</select></label>
            """
        let isQuantity = type.kind == .quantity
        return """
            <section class="chart" data-chart="\(type.id)" data-first="\(first.rawValue)" aria-label="\(texts("chart.label"))" hidden>
            <div class="controls" role="group" aria-label="\(texts("chart.move"))">
            <button type="button" class="quiet" data-move="left" aria-label="\(texts("chart.left"))">◀</button>
            <button type="button" class="quiet" data-move="right" aria-label="\(texts("chart.right"))">▶</button>
            <button type="button" class="quiet" data-move="in" aria-label="\(texts("chart.in"))">+</button>
            <button type="button" class="quiet" data-move="out" aria-label="\(texts("chart.out"))">−</button>
            <button type="button" class="quiet" data-move="back" hidden>\(texts("chart.back"))</button>
            </div>
            <p class="read" data-read aria-live="off">\(texts("chart.how"))</p>
            <div class="plot" data-plot></div>
            <p class="legend" data-legend></p>
            <details><summary>\(texts("chart.options"))</summary><div class="controls">\(unit)\(aside)
            <label>\(texts("chart.zone")) <select data-key="zone" data-zone>\(zones)</select></label>
            \(box("events", "chart.events", isOn: true))
            \(isQuantity ? box("previous", "chart.previous", isOn: false) : "")
            \(isQuantity && hasSources ? box("sources", "chart.sources", isOn: false) : "")</div></details>
            </section>
            """
    }

    private func box(_ key: String, _ text: String, isOn: Bool) -> HTML {
        let checked: HTML = isOn ? " data-default=\"yes\" checked" : ""
        return "<label><input type=\"checkbox\" data-key=\"\(key)\"\(checked)> \(call.texts(text))</label>"
    }
}
