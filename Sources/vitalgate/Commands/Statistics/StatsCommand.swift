import CommandLineKit
import Formats
import HealthAnswers
import HealthModel
import SampleStore

/// `stats`: statistics of a type by calendar interval.
enum StatsCommand: Command {
    static let specification = CommandSpecification(
        name: "stats", summary: "Summarize samples by hour, day, week or month.",
        discussion: """
            The figures depend on the type. Cumulative types (steps, energy, distances) have a sum. A sample that crosses the \
            boundary of two intervals is split in proportion to its time. Other quantities have average, lowest, highest and \
            latest values. The average of heart rates is weighted by time, and the average of sound levels is the mean power. \
            Categories, such as the stages of sleep, have the duration of each case. Days, weeks, months and years follow the \
            calendar of the time zone, including clock changes. For sleep, a day lasts from noon to noon.

            If several sources cover the same time, such as a phone and a watch, only the preferred one counts. The order set \
            with 'vitalgate sources priority' decides first, then 'priority' in the configuration. Among all other sources, worn \
            devices are preferred to phones.

            For laboratory results and vital signs from health records, give a LOINC code instead of a type, such as 2339-0 for \
            glucose in blood. The time of a result is that of the test. Results that are not one number, such as <5 mg/dL, are \
            not counted but listed on standard error. The unit is that of the latest result unless you use --unit.
            """,
        arguments: [
            Argument(
                name: "TYPE",
                help: """
                    One or more types, separated by commas, such as heartRate,sleepAnalysis (only quantities and categories, see \
                    'vitalgate types'), or LOINC codes of laboratory results, such as 2339-0.
                    """,
                completion: .types)
        ],
        options: [
            Option(
                names: ["--every"], value: "LENGTH", help: "Length of the intervals, such as 15m, 1h, 1d, 1w, 1mo or 1y.",
                required: true),
            Option(
                names: ["--anchor"], value: "T",
                help: "Time at which one of the intervals starts (default: midnight, and Monday for weeks)."),
        ] + SharedOptions.range + [
            SharedOptions.timeZone,
            SharedOptions.person,
            Option(names: ["--source"], value: "SOURCE", help: "Only samples of this source (name or id)."),
            Option(
                names: ["--device"], value: "DEVICE", help: "Only samples of this device (name, model, serial number or key)."),
            SharedOptions.condition,
        ] + StatisticsParameter.allCases.map { Option($0) } + [
            SharedOptions.unit, Option(names: ["--limit"], value: "N", help: "Maximum number of intervals for each type."),
            Option(
                names: ["--follow"],
                help: "Keep running and print each interval that changes (ndjson only)."),
            Option(
                names: ["--explain"], help: "Also print the order of the sources (on standard error)."),
            Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate stats stepCount --every 1d --from -7d", "Show steps per day for the last week."),
            Example("vitalgate stats heartRate --every 1h --from today --unit /min", "Show today's heart rate by hour."),
            Example(
                "vitalgate stats bloodGlucose --every 1d --in-range '70..180 mg/dL' --percentiles",
                "Show per day how long glucose was in this range, with percentiles."),
            Example(
                "vitalgate stats heartRate --every 1w --from -30d --where \"metadata.heartRateMotionContext = 'sedentary'\"",
                "Show the weekly pulse that a watch recorded at rest."),
            Example("vitalgate stats 4548-4 --every 1mo", "Show the trend of HbA1c from laboratory results."),
            Example("vitalgate stats sleepAnalysis --every 1d --from -7d", "Show the duration of each sleep stage per night."),
        ])

    /// The maximum number of intervals that samples are divided into. A year has 525,600 minutes.
    private static let maximumShares = 2_000_000

    static func run(_ context: CommandContext) throws -> ExitCode {
        let store = try context.openForReading()
        let questions = try questions(context, store)
        for question in questions where question.lab == nil { try bound(question.query, store, context) }
        if context.invocation.flag("--explain") {
            for question in questions where question.lab == nil {
                try StatisticsExplanation(store: store, context: context).write(question.query)
            }
        }
        if context.invocation.flag("--follow") {
            guard context.format == .ndjson, !context.invocation.flag("--empty") else {
                throw context.invocation.invalid(
                    "--format", value: context.format.rawValue, expected: "ndjson with --follow and without --empty")
            }
            try StatisticsFollower(questions: questions, store: store, context: context).run()
            return .success
        }
        let limit = try context.invocation.integer("--limit", in: 0...Int.max) ?? .max
        // The columns of a CSV file with several types.
        let all = questions.reduce(into: StatisticsOptions()) { $0.formUnion($1.line.shown) }
        let hasCodes = questions.contains { $0.lab != nil }
        let hasCases = questions.contains { $0.query.type.kind == .category }
        for (index, question) in questions.enumerated() {
            let batches = StatisticsBatches(store: store, question: question, limit: limit)
            switch context.format {
            case .ndjson:
                try batches.each { rows in
                    for row in rows { try context.streams.output.write(question.line.object(row).line) }
                }
            case .csv:
                var bytes: [UInt8] = []
                let ranges = question.writtenRanges
                if index == 0 {
                    context.csv.append(
                        row: StatisticsLine.columns(shown: all, ranges: ranges, hasCases: hasCases, hasCodes: hasCodes),
                        to: &bytes)
                }
                try batches.each { rows in
                    for row in rows {
                        let cells = question.line.cells(
                            row, among: all, ranges: ranges.count, hasCases: hasCases, hasCodes: hasCodes)
                        context.csv.append(row: cells, to: &bytes)
                    }
                    try context.streams.output.write(bytes)
                    bytes.removeAll(keepingCapacity: true)
                }
                try context.streams.output.write(bytes)
            case .table:
                let title = questions.count > 1 ? (index == 0 ? "" : "\n") + "\(question.name)\n" : ""
                try StatisticsTables(context: context, batches: batches, title: title).write()
            }
        }
        return .success
    }

    private static func questions(_ context: CommandContext, _ store: SampleStore) throws -> [StatisticsQuestion] {
        let invocation = context.invocation
        let text = invocation.string("--every") ?? ""
        guard let interval = CalendarInterval(text) else {
            throw invocation.invalid("--every", value: text, expected: "a number followed by m, h, d, w, mo or y, such as 1d")
        }
        if invocation.flag("--own-zone"), !interval.unit.isOfDays {
            throw invocation.invalid("--every", value: text, expected: "1d or longer with --own-zone")
        }
        let written = invocation.argument("TYPE") ?? ""
        let words = written.split(separator: ",").map(String.init)
        let codes = words.compactMap(LabStatistics.code)
        var questions: [StatisticsQuestion] = []
        for code in codes {
            if let question = try StatisticsQuestion(loinc: code, interval, store, context) {
                questions.append(question)
            } else {
                context.note("no results of LOINC \(code)")
            }
        }
        var types: [SampleType] = []
        let others = codes.isEmpty ? written : words.filter { LabStatistics.code($0) == nil }.joined(separator: ",")
        for type in try others.isEmpty && !codes.isEmpty ? [] : context.types(others) where !types.contains(type) {
            guard type.kind == .quantity || type.kind == .category else {
                let advice =
                    LabStatistics.types.contains(type) ? ". For laboratory results, give a LOINC code, such as 2339-0" : ""
                throw invocation.invalid(
                    "TYPE", value: type.id,
                    expected:
                        "a quantity or category type, since statistics of a \(type.kind.name) are not supported\(advice)")
            }
            types.append(type)
        }
        return try questions + types.map { try StatisticsQuestion($0, interval, store, context) }
    }

    /// Refuses a query with millions of intervals.
    private static func bound(_ query: StatisticsQuery, _ store: SampleStore, _ context: CommandContext) throws {
        var shares = try store.shares(of: query)
        if query.includesGaps, let (first, last) = try store.extent(of: query) {
            shares = max(shares, query.intervals.index(of: query.to ?? last) - query.intervals.index(of: query.from ?? first))
        }
        guard shares > maximumShares else { return }
        throw context.invocation.invalid(
            "--every", value: "\(query.intervals.interval)",
            expected: """
                longer intervals, or a shorter range with --from and --to: \(query.type.id) would need \
                \(Readable.count(shares)) intervals, and the maximum is \(Readable.count(maximumShares))
                """)
    }
}

extension Option {
    fileprivate init(_ parameter: StatisticsParameter) {
        var placeholder: String?
        if case .text(let text, _) = parameter.form { placeholder = text }
        self.init(names: [parameter.option], value: placeholder, help: parameter.help, repeating: parameter.isRepeating)
    }
}
