import HTTPServerKit
import HealthAnswers
import HealthModel
import SampleStore

/// The time that a chart and its table show, from the address of the page: a range of calendar days that ends today or some ranges
/// earlier (`range`, `back`), or two times in milliseconds (`from`, `to`).
struct ChartWindow {
    enum Range: String, CaseIterable {
        case day, week, month, half, year, all

        /// The number of days. `nil` for all.
        var days: Int? {
            switch self {
            case .day: 1
            case .week: 7
            case .month: 31
            case .half: 183
            case .year: 365
            case .all: nil
            }
        }
    }

    /// The range, or `nil` if two times were given.
    let range: Range?
    /// The number of ranges before the one that ends today.
    let back: Int
    let start: Instant
    /// The end, which is not included.
    let end: Instant

    private static let maximumAge = 5000

    /// - Parameters:
    ///   - first: The time of the first sample, for all of them.
    ///   - defaultRange: The range without one in the address.
    /// - Throws: ``PageProblem`` 400 if the times are not valid.
    init(_ call: PageCall, defaultRange: Range, first: () throws -> Instant?) throws {
        let days = CalendarIntervals(.day, zone: call.zone)
        let today = days.index(of: call.now)
        if call.text("from") != nil || call.text("to") != nil {
            guard let from = call.text("from").flatMap({ Int64($0) }), let to = call.text("to").flatMap({ Int64($0) }),
                ChartFrame(from: from, to: to, width: 360) != nil
            else { throw PageProblem(400, "interval") }
            (range, back) = (nil, 0)
            (start, end) = (Instant(microseconds: from * 1000), Instant(microseconds: to * 1000))
            return
        }
        let chosen = call.text("range").flatMap(Range.init(rawValue:)) ?? defaultRange
        range = chosen
        if let count = chosen.days {
            back = min(max(call.text("back").flatMap { Int($0) } ?? 0, 0), Self.maximumAge / count)
            let last = today - back * count
            (start, end) = (days.start(of: last - count + 1), days.start(of: last + 1))
        } else {
            back = 0
            end = days.start(of: today + 1)
            let century = Instant(microseconds: end.microseconds - 99 * 366 * 86_400_000_000)
            let begin = try first() ?? call.now
            start = days.start(of: days.index(of: min(max(begin, century), call.now)))
        }
    }

    func frame(width: Int) -> ChartFrame? {
        ChartFrame(from: start.microseconds / 1000, to: end.microseconds / 1000, width: width)
    }

    /// The interval of the table's rows.
    var interval: CalendarInterval {
        let days = (end.microseconds - start.microseconds) / 86_400_000_000
        let name = days <= 2 ? "1h" : days <= 93 ? "1d" : days <= 1100 ? "1mo" : "1y"
        return CalendarInterval(name) ?? .day
    }

    /// The shortest range that contains a time.
    static func defaultRange(for latest: Instant, _ call: PageCall) -> Range {
        let days = CalendarIntervals(.day, zone: call.zone)
        let age = days.index(of: call.now) - days.index(of: latest)
        return Range.allCases.first { age < $0.days ?? .max } ?? .all
    }
}
