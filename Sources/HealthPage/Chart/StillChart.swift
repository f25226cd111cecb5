import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// The chart of a type for browsers without scripts.
enum StillChart {
    private static let width = 600

    static func html(of type: SampleType, _ window: ChartWindow, _ reader: Reader, _ call: PageCall) throws -> HTML {
        guard let frame = window.frame(width: width) else { return "" }
        let isPressure = type.id == BloodPressure.type
        let types = isPressure ? [SampleType.bloodPressureSystolic, .bloodPressureDiastolic] : [type]
        let measured = BloodPressure.measuredType(of: type)
        let conversion = try call.values.conversion(of: measured, to: call.values.unit(of: measured, asked: call.text("unit")))
        let charts = try types.map { type in
            let chart = try Chart(
                type, person: call.person().person, in: frame, of: reader.store, zone: call.zone,
                priority: call.core.settings.priority, where: TrustedReadings(of: type, call).condition())
            return ReportPlot.part(chart, conversion, isUnfinished: chart.isUnfinished(at: call.now))
        }
        let plot = ReportPlot(
            label: call.texts("chart.label") + ": " + call.values.name(of: type), frame: frame, charts: charts,
            ticks: ChartTicks(frame, zone: call.zone, texts: call.texts).all)
        return "<noscript><div class=\"card\">\(plot.html)</div></noscript>"
    }
}
