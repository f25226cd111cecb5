/// A text in Prometheus's exposition format 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/
///
///     # HELP vitalgate_store_bytes Size of the store.
///     # TYPE vitalgate_store_bytes gauge
///     vitalgate_store_bytes 685900
struct PrometheusText {
    enum Kind: String { case counter, gauge }

    /// A value with the labels that distinguish it from the others of its metric.
    struct Point {
        var labels: [(name: String, value: String)] = []
        var value: Double
    }

    private(set) var text = ""

    /// Adds a metric. One without points is left out.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ points: [Point]) {
        guard !points.isEmpty else { return }
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for point in points {
            let labels = point.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
            text += name + (labels.isEmpty ? "" : "{\(labels)}") + " \(Self.number(point.value))\n"
        }
    }

    /// Adds a metric with one value, or none if it is `nil`.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double?) {
        add(name, kind, help, value.map { [Point(value: $0)] } ?? [])
    }

    /// Adds a metric with a value for each element of a list.
    ///
    /// - Parameter value: Returns the value of an element, or `nil` to leave it out.
    mutating func add<Element>(
        _ name: String, _ kind: Kind, _ help: String, _ elements: [Element], by label: String, _ of: (Element) -> String,
        _ value: (Element) -> Double?
    ) {
        add(
            name, kind, help,
            elements.compactMap { element in
                value(element).map { Point(labels: [(label, of(element))], value: $0) }
            })
    }

    private static func number(_ value: Double) -> String {
        guard value.isFinite else { return value.isNaN ? "NaN" : value > 0 ? "+Inf" : "-Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
