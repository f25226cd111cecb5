import HealthModel
import Pipeline

/// Walks through the text of an export once.
final class HealthAutoExportWalk {
    /// The maximum length of a point or workout in bytes. A workout of ten hours has a route of about 10 MiB.
    static let maximumElement = 16 << 20
    /// More than the app has types.
    private static let maximumMetrics = 4096

    /// The name and unit of each metric, in order. An empty text if the export does not contain it.
    private(set) var metrics: [(name: String, units: String)] = []
    /// The length of the periods, as in the request's header.
    private(set) var grouping: String?
    /// The number of deleted samples. Only Vitalgate's webhook sends them.
    private(set) var deletions = 0
    /// The names of members that are not read.
    private(set) var unread = Unread()

    private let stream: JSONStream
    /// Called with the list, the index of the metric in ``metrics`` or `nil`, and the element or `nil` if it is too long.
    private let onElement: (String, Int?, UnsafeRawBufferPointer?) throws -> Void

    init(
        _ input: any ByteInput, onElement: @escaping (String, Int?, UnsafeRawBufferPointer?) throws -> Void = { _, _, _ in }
    ) throws(SourceError) {
        stream = try JSONStream(input, maximumValue: Self.maximumElement)
        self.onElement = onElement
    }

    /// Reads to the end of the text.
    ///
    /// - Throws: ``SourceError`` if the text is cut or malformed.
    func run() throws {
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
                default: try onElement(section, nil, stream.value())
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
                    try onElement(HealthAutoExportFile.metrics, index, stream.value())
                }
            default: try skip(name)
            }
        }
    }

    private func skip(_ name: String) throws {
        let isNull = try stream.begins(with: "n")
        _ = try stream.value()
        if !isNull { unread.count(name, as: .member) }
    }
}
