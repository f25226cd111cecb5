import HealthModel
import HealthStore

/// The steps of each day of the past week.
struct DailySteps {
    let store: HealthStore
    /// Midnight of the first day, and of today.
    let days: ClosedRange<Instant>
    private let query: StatisticsCollectionQueryDescriptor

    init(of store: HealthStore, until now: Instant) {
        self.store = store
        let calendar = CalendarIntervals(.day, zone: store.zone)
        let today = calendar.index(of: now)
        days = calendar.start(of: today - 6)...calendar.start(of: today)
        query = StatisticsCollectionQueryDescriptor(
            type: .stepCount, from: days.lowerBound, options: .cumulativeSum, anchor: days.lowerBound, interval: .day)
    }

    /// Shows all days, and those that change as they do, until its task is cancelled.
    func show() async throws {
        var isFirst = true
        for try await result in query.results(for: store) {
            if isFirst {
                result.collection.enumerateStatistics(from: days.lowerBound, to: days.upperBound) { write($0) }
                isFirst = false
            } else {
                for day in result.updated { write(day) }
            }
        }
    }

    private func write(_ day: QuantityStatistics) {
        let date = "\(day.start.wallTime(at: store.zone.offset(at: day.start)))".prefix(10)
        let steps = day.sum?.numeral.doubleValue ?? 0
        say("\(date)  \(Int(steps.rounded()))")
    }
}
