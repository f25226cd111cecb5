import FoundationEssentials
import HealthModel
import Pipeline

/// The body of a line: from its `body`, as a store writes it, or from the fields that people write.
struct LineBody {
    /// `nil` for quantities and categories.
    private(set) var body: SampleBody?

    private let line: LineObject
    private let type: SampleType
    private let start: Instant
    /// Maps a referenced sample to its identity in this store.
    private let named: (SampleIdentity) -> SampleIdentity

    init(
        _ line: LineObject, _ type: SampleType, start: Instant, named: @escaping (SampleIdentity) -> SampleIdentity
    ) throws(LineFault) {
        (self.line, self.type, self.start, self.named) = (line, type, start, named)
        body = try line.has("body") ? whole() : written()
        do throws(InvalidObject) {
            try body?.check(as: type, deeply: false)
        } catch {
            throw LineFault(error.field, error.reason)
        }
    }

    // MARK: As a store keeps it

    private func whole() throws(LineFault) -> SampleBody? {
        guard let bodyType = type.kind.bodyType else { return nil }
        var object: any ObjectBody = try decoded(bodyType)
        object.references = object.references.map(renamed)
        if let points = object.packedPoints { return try encoded(object, try self.points(points)) }
        return try encoded(object, bodyType.hasDocument ? try bytes() : nil)
    }

    private func renamed(_ name: String) -> String { SampleIdentity(name).map { named($0).description } ?? name }

    static func names(_ line: LineObject) -> [SampleIdentity] {
        guard let kind = (try? line.text("kind")).flatMap({ SampleKind(named: $0) }), let body = try? line.object("body") else {
            return []
        }
        let names: [String]
        switch kind {
        case .correlation: names = (try? body.texts("objects", atMost: 1000)) ?? []
        case .workout: names = (try? body.texts("routes", atMost: 1000)) ?? []
        case .workoutRoute: names = (try? body.text("workout")).map { [$0] } ?? []
        default: names = []
        }
        return names.compactMap { SampleIdentity($0) }
    }

    private func decoded<Body: Decodable>(_ type: Body.Type) throws(LineFault) -> Body {
        guard let place = line.place("body") else { throw LineFault("body: it is missing") }
        guard place.count <= SampleBody.maximumJSON else { throw LineFault("body: it is too long") }
        guard let body = try? JSONDecoder().decode(type, from: Data(line.bytes[place])) else {
            throw LineFault("body: a member is missing or invalid")
        }
        return body
    }

    private func encoded(_ value: some Encodable, _ content: PackedContent? = nil) throws(LineFault) -> SampleBody {
        guard let body = try? SampleBody(encoding: value, content: content) else {
            throw LineFault("body: it cannot be stored")
        }
        return body
    }

    // MARK: What is large

    private func points(_ points: Points) throws(LineFault) -> PackedContent {
        guard let data = try line.object("data") else {
            throw LineFault("data: it is missing (lines of 'export' contain the points, lines of 'query' only their number)")
        }
        let columns = try data.objects("columns", atMost: PointsWriter.maximumColumns).map { column throws(LineFault) in
            Points.Column(try column.text("name") ?? "", unit: try column.text("unit"))
        }
        guard columns == points.columns, !columns.isEmpty else {
            throw LineFault("data: columns: they differ from those of the body")
        }
        guard let rows = data.place("rows") else { throw LineFault("data: rows: it is missing") }
        let time = columns.firstIndex { $0.name == Points.time }
        do {
            var writer = PointsWriter(columns: columns)
            var scanner = LineScanner(line.bytes, from: rows.lowerBound)
            var numbers: [Numeral?] = []
            try scanner.forEachElement { (row: Range<Int>) throws(LineFault) in
                try Self.read(row, of: line.bytes, columns.count, into: &numbers)
                if let time, let offset = numbers[time]?.doubleValue, !(offset.magnitude <= Double(LineInterpreter.reach)) {
                    throw LineFault("data: rows: a time is far from the start")
                }
                do throws(ContentError) {
                    try writer.append(numbers)
                } catch {
                    throw LineFault("data: \(error)")
                }
            }
            let packed = try writer.end()
            guard packed.points.count == points.count else {
                throw LineFault("data: rows: the body has another number of points")
            }
            return packed.content
        } catch let fault as LineFault {
            throw fault
        } catch {
            throw LineFault("data: \(error)")
        }
    }

    private static func read(
        _ row: Range<Int>, of bytes: UnsafeRawBufferPointer, _ count: Int, into numbers: inout [Numeral?]
    ) throws(LineFault) {
        guard bytes[row.lowerBound] == UInt8(ascii: "[") else { throw LineFault("data: rows: a point is not a list") }
        numbers.removeAll(keepingCapacity: true)
        var scanner = LineScanner(bytes, from: row.lowerBound)
        try scanner.forEachElement { (place: Range<Int>) throws(LineFault) in
            guard bytes[place.lowerBound] != UInt8(ascii: "n") else { return numbers.append(nil) }
            // Packed numbers have at most 18 digits before the decimal point.
            guard let number = LineScanner.number(of: bytes, place), number.doubleValue.magnitude < 1e18 else {
                throw LineFault("data: rows: it is not a number, or too large")
            }
            numbers.append(number)
        }
        guard numbers.count == count else { throw LineFault("data: rows: a point has more or fewer numbers than columns") }
    }

    /// Returns the unchanged bytes of the resource or document.
    private func bytes() throws(LineFault) -> PackedContent {
        var bytes: [UInt8]
        if let place = line.place("octets") {
            guard line.bytes[place.lowerBound] == UInt8(ascii: "\"") else { throw LineFault("octets: it is not a text") }
            bytes = try LineScanner.unescaped(of: line.bytes, place.lowerBound + 1..<place.upperBound - 1)
        } else if let text = try line.text("octetsBase64", atMost: LineFile.maximumLine) {
            guard let data = Data(base64Encoded: text) else { throw LineFault("octetsBase64: it is not base64") }
            bytes = Array(data)
        } else {
            throw LineFault("octets: it is missing (lines of 'export' contain it, lines of 'query' do not)")
        }
        do throws(ContentError) {
            return try PackedContent(bytes)
        } catch {
            throw LineFault("octets: \(error)")
        }
    }

    // MARK: As people write it

    private func written() throws(LineFault) -> SampleBody? {
        switch type.kind {
        case .quantity, .category: return nil
        case .correlation: return try encoded(try Correlation(line))
        case .workout: return try encoded(try Workout(line))
        case .visionPrescription: return try encoded(try VisionPrescription(line, start))
        case .stateOfMind: return try encoded(try StateOfMind(line))
        case .medicationDoseEvent: return try encoded(try MedicationDoseEvent(line, start))
        case .scoredAssessment:
            let assessment = ScoredAssessment(answers: try Self.answers(line, type), risk: try line.text("risk"))
            return try encoded(assessment)
        default: throw LineFault("body: it is missing, but this kind requires it (lines of 'export' contain it)")
        }
    }

    /// Returns the raw numbers of an assessment's answers, which a line contains as names or numbers.
    static func answers(_ line: LineObject, _ type: SampleType) throws(LineFault) -> [Int] {
        let names = type.id == "gad7" ? ObjectValues.gad7Answer : ObjectValues.phq9Answer
        var answers: [Int] = []
        for place in try line.list("answers", atMost: 16) ?? [] {
            let text = String(decoding: UnsafeRawBufferPointer(rebasing: line.bytes[place]), as: UTF8.self)
            let isName = line.bytes[place.lowerBound] == UInt8(ascii: "\"")
            let number = isName ? names.value(of: try LineScanner.text(of: line.bytes, place)) : Int(text)
            guard let number, names.name(of: number) != nil else {
                throw LineFault("answers: one is not an answer of this questionnaire")
            }
            answers.append(number)
        }
        return answers
    }

    /// Parses `{"value":1.5,"unit":"mg"}`. Returns `nil` if it is missing.
    static func amount(_ object: LineObject, _ name: String) throws(LineFault) -> Amount? {
        guard let amount = try object.object(name) else { return nil }
        guard let value = try amount.number("value") else { throw object.fault(name, "it has no value") }
        guard let code = try amount.text("unit", atMost: 258) else { return Amount(value, nil) }
        guard let unit = try? Unit(ucum: code) else { throw object.fault(name, "its unit is not a UCUM code") }
        return Amount(value, unit)
    }
}
