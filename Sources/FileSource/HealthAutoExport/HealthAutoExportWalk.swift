import HealthModel
import Pipeline

/// Walks through the text of an export once. An element is in a list, and may be of a metric, which is an index of ``metrics``.
package final class HealthAutoExportWalk: PostWalk {
    package typealias Element = (list: String, metric: Int?)

    /// A workout of ten hours has a route of about 10 MiB.
    package static let maximumElement = 16 << 20
    /// More than the app has types.
    private static let maximumMetrics = 4096

    /// The name and unit of each metric, in order. An empty text if the export does not contain it.
    private var metrics: [(name: String, units: String)] = []
    /// The length of the periods, as in the request's header.
    private var grouping: String?
    /// The number of deleted samples. Only Vitalgate's webhook sends them.
    private var deletions = 0
    private var skipped = Unread()

    private let stream: JSONStream
    private let onElement: Handler

    package init(_ stream: JSONStream, onElement: @escaping Handler) { (self.stream, self.onElement) = (stream, onElement) }

    /// Members that are not read, and deletions, which are not applied.
    package var unread: Unread {
        var unread = skipped
        unread.count(HealthAutoExportFile.deleted, as: .member, deletions)
        return unread
    }

    package var facts: [[String]] { grouping.map { [[HealthAutoExportRow.grouping, $0]] } ?? [] }

    package func heading(of element: Element, after previous: Element?) -> [String]? {
        guard let index = element.metric, index != previous?.metric else { return nil }
        return [HealthAutoExportRow.metric, metrics[index].name, metrics[index].units]
    }

    package func cells(of element: Element) -> [String] {
        element.metric == nil ? [HealthAutoExportRow.element, element.list] : [HealthAutoExportRow.point]
    }

    package func run() throws {
        try request(isBody: false)
        guard try stream.next() == nil else { throw stream.fault("there is text after the export") }
    }

    private func request(isBody: Bool) throws {
        try stream.forEachMember { [self] name in
            switch name {
            case "data" where try stream.begins(with: "{"): try data()
            case "body" where try !isBody && stream.begins(with: "{"): try request(isBody: true)
            case "headers" where try !isBody && stream.begins(with: "{"): try headers()
            default: try skip(name)
            }
        }
    }

    private func headers() throws {
        try stream.forEachMember { [self] name in
            if name.lowercased() == HealthAutoExportFile.groupingHeader {
                grouping = try stream.text()
            } else {
                _ = try stream.value()
            }
        }
    }

    private func data() throws {
        try stream.forEachMember { [self] section in
            guard try stream.begins(with: "[") else { return try skip(section) }
            try stream.forEachElement { [self] in
                switch section {
                case HealthAutoExportFile.metrics: try metric()
                case HealthAutoExportFile.deleted:
                    _ = try stream.value()
                    deletions += 1
                default: try onElement((section, nil), stream.value())
                }
            }
        }
    }

    private func metric() throws {
        guard metrics.count < Self.maximumMetrics else {
            throw stream.fault("there are more than \(Self.maximumMetrics) metrics")
        }
        let index = metrics.count
        metrics.append(("", ""))
        try stream.forEachMember { [self] name in
            switch name {
            case "name": metrics[index].name = try stream.text() ?? ""
            case "units": metrics[index].units = try stream.text() ?? ""
            case "data" where try stream.begins(with: "["):
                try stream.forEachElement { [self] in
                    try onElement((HealthAutoExportFile.metrics, index), stream.value())
                }
            default: try skip(name)
            }
        }
    }

    private func skip(_ name: String) throws {
        let isNull = try stream.begins(with: "n")
        _ = try stream.value()
        if !isNull { skipped.count(name, as: .member) }
    }
}
