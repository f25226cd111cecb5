import HealthAnswers
import HealthModel
import HealthServing

/// The chart of a type for browsers without scripts.
enum StillChart {
    private static let width = 600

    static func html(of type: SampleType, _ window: ChartWindow, _ reader: Reader, _ call: PageCall) throws -> HTML {
        guard let frame = window.frame(width: width) else { return "" }
        let label = call.texts("chart.label") + ": " + call.values.name(of: type)
        return
            "<noscript><div class=\"card\">\(try ReportPlot(of: type, in: frame, label: label, reader, call).html)</div></noscript>"
    }
}
