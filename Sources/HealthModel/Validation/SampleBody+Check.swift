extension SampleBody {
    /// An upper limit for the JSON of any body. Large content is stored separately.
    public static let maximumJSON = 8 << 20

    /// Checks that it has the content that an object of this type requires.
    ///
    /// - Parameter deeply: Whether its points are also read one by one. Points packed by our own readers are known to be valid.
    public func check(as type: SampleType, deeply: Bool = true) throws(InvalidObject) {
        guard json.count <= Self.maximumJSON else { throw InvalidObject("body", "it is too long") }
        guard let bodyType = type.kind.bodyType else { throw InvalidObject("body", "a \(type.kind.name) has none") }
        guard let object: any ObjectBody = try? decoded(as: bodyType) else {
            throw InvalidObject("body", "a member is missing or invalid")
        }
        try object.check(as: type, document: bodyType.hasDocument ? try unpacked() : [])
        if let points = object.packedPoints { try check(points, deeply) }
    }

    /// The decompressed data after the JSON.
    private func unpacked() throws(InvalidObject) -> [UInt8] {
        guard let content else { throw InvalidObject("octets", isLongerThanJSON ? "they are damaged" : "they are missing") }
        do throws(ContentError) {
            return try content.bytes()
        } catch {
            throw InvalidObject("octets", "\(error)")
        }
    }

    private func check(_ points: Points, _ deeply: Bool) throws(InvalidObject) {
        guard points.count >= 0, points.columns.count <= PointsWriter.maximumColumns, !points.columns.isEmpty else {
            throw InvalidObject("body: points", "they have no columns or too many")
        }
        guard let content else {
            guard points.count == 0, !isLongerThanJSON else { throw InvalidObject("data", "the points are missing or damaged") }
            return
        }
        guard deeply else { return }
        let time = points.columns.firstIndex { $0.name == Points.time }
        do {
            var reader = try PointsReader(points, content)
            while let numbers = try reader.next() {
                guard let time, let offset = numbers[time]?.doubleValue else { continue }
                guard offset.magnitude <= Double(Sample.reach) else {
                    throw InvalidObject("data: rows", "a time is far from the start")
                }
            }
        } catch let error as InvalidObject {
            throw error
        } catch {
            throw InvalidObject("data", "the points are missing or damaged")
        }
    }
}

extension InvalidObject {
    /// Checks that a name is the present one of a case. An earlier name or HealthKit's constant is not.
    static func checkName(_ name: String?, in values: CategoryValues, _ field: String) throws(InvalidObject) {
        guard let name else { return }
        guard values.value(of: name).flatMap(values.name) == name else {
            throw InvalidObject(field, "HealthKit has no such value")
        }
    }

    /// Checks that times are within reach of the start.
    static func checkTimes(_ offsets: [Int64?], _ field: String) throws(InvalidObject) {
        for case let offset? in offsets where !(-Sample.reach...Sample.reach).contains(offset) {
            throw InvalidObject(field, "a time is far from the start")
        }
    }
}
