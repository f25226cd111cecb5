import HTTPServerKit
import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

struct ReportRequest {
    /// The types by name. A blood pressure stands for its two pressures.
    let types: [SampleType]
    /// The first day and the last day, such as `2026-11-01`.
    let (first, last): (String, String)
    /// The start of the first day, and the end of the last one.
    let (from, to): (Instant, Instant)

    private static let (maximumTypes, maximumDays) = (30, 3700)

    /// Reads a request. It is for the last 30 days if the call names no days.
    ///
    /// - Throws: ``PageProblem`` 400 if the days or types are invalid.
    init(_ call: PageCall) throws {
        let days = CalendarIntervals(.day, zone: call.zone)
        let today = days.index(of: call.now)
        func day(_ name: String, fallback index: Int) throws -> Int {
            guard let text = call.text(name) else { return index }
            guard text.utf8.count == 10, let start = Instant(iso8601: text, zone: call.zone) else {
                throw PageProblem(400, "date")
            }
            return days.index(of: start)
        }
        let (first, last) = (try day("from", fallback: today - 29), try day("until", fallback: today))
        guard first <= last, last - first < Self.maximumDays else {
            throw PageProblem(400, "days")
        }
        (from, to) = (days.start(of: first), days.start(of: last + 1))
        (self.first, self.last) = (call.times.date(from), call.times.date(days.start(of: last)))
        let names = call.list("type")
        let types = names.compactMap { try? SampleType(anyName: $0) }.filter {
            $0.kind == .quantity || $0.id == BloodPressure.type
        }
        guard types.count == names.count, types.count <= Self.maximumTypes else { throw PageProblem(400, "mostTypes") }
        self.types = types.map { (type: $0, name: call.values.name(of: $0)) }.sorted {
            ($0.name, $0.type.id) < ($1.name, $1.type.id)
        }
        .map(\.type)
    }

    /// The types whose samples are the readings of a type: itself, or the two pressures of a blood pressure.
    static func parts(of type: SampleType) -> [SampleType] { type.id == BloodPressure.type ? EntryForm.pressures : [type] }

    var query: String { (["from=\(first)", "until=\(last)"] + types.map { "type=\($0.id)" }).joined(separator: "&") }
}
