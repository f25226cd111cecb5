import CommandLineKit
import Formats
import Gateway
import HealthModel
import SampleStore

/// `stats`: statistics of a type by calendar interval.
enum StatsCommand: Command {
    static let specification = CommandSpecification(
        name: "stats", summary: "Sum up a type by hours, days, weeks, months.",
        discussion: """
            Cumulative types (steps, energy, distances) have a sum, in which a sample that spans two stretches counts in each by its share \
            of time; all others have average, lowest, highest and latest value, and percentiles and the part within ranges where they are \
            asked for. Heart rates are averaged by the time that each held, levels of sound as the power they stand for. Categories have \
            the time that each case lasted: the stages of a night, which goes from noon to noon. Days, weeks, months and years follow the \
            calendar of the time zone, also over changes of clocks. Where several sources tell of the same time (a phone and a watch that \
            count the same steps), or two devices' samples agree, one counts: the first by 'vitalgate sources priority', then by the \
            configuration's priority, else what is worn, a phone last.
            """,
        arguments: [
            Argument(
                name: "TYPE",
                help: "A quantity type such as heartRate, or a category such as sleepAnalysis; several joined by commas.",
                completion: .command("vitalgate types --ids"))
        ],
        options: [
            Option(names: ["--every"], value: "LENGTH", help: "The stretch: 15m, 1h, 1d, 1w, 1mo, 1y.", required: true),
            Option(names: ["--anchor"], value: "T", help: "Where a stretch begins; else midnight, weeks on Monday."),
        ] + SharedOptions.range + [
            SharedOptions.timeZone,
            Option(names: ["--own-zone"], help: "Days as each sample's own clock showed them: a traveller's."),
            SharedOptions.subject,
            Option(names: ["--source"], value: "SOURCE", help: "A source's id or name."),
            Option(names: ["--device"], value: "DEVICE", help: "A device's key, name, model or serial number."),
            SharedOptions.condition,
            Option(names: ["--by-source"], help: "Keep the sources apart."),
            Option(names: ["--every-source"], help: "Count every source, also where several tell of the same time."),
            Option(
                names: ["--show"], value: "LIST",
                help: "Which figures, joined by commas: sum, average, min, max, mostRecent, duration (in seconds)."),
            Option(names: ["--percentiles"], help: "Also the 5th, 25th, 50th, 75th and 95th percentile."),
            Option(
                names: ["--in-range"], value: "RANGE",
                help: "Also which part lies in a range, both ends within: '70..180 mg/dL', ..70, 180..; by time for heart rates.",
                repeating: true),
            Option(names: ["--empty"], help: "Also stretches without samples."),
            SharedOptions.unit, Option(names: ["--limit"], value: "N", help: "At most so many stretches of each type."),
            Option(names: ["--plot"], help: "Draw them, in place of a table."),
            Option(
                names: ["--follow"],
                help: "With ndjson: all of them, then each that becomes another as samples come and go, until stopped."),
            Option(
                names: ["--explain"], help: "Say on stderr which sources count, in their order; with --follow, how much was read."
            ),
            Format.option, Format.safe,
        ],
        examples: [
            Example("vitalgate stats stepCount --every 1d --from -7d", "Steps of each day of the last week."),
            Example("vitalgate stats heartRate --every 1h --from today --unit /min", "Heart rate by the hour."),
            Example(
                "vitalgate stats bloodGlucose --every 1d --in-range '70..180 mg/dL' --percentiles", "Time in range of each day."),
            Example(
                "vitalgate stats heartRate --every 1w --from -30d --where \"metadata.heartRateMotionContext = 'sedentary'\"",
                "Pulse at rest, as a watch says it, week by week."),
            Example("vitalgate stats sleepAnalysis --every 1d --from -7d", "How long each stage of sleep was, night by night."),
        ])

    static let shown: [(name: String, option: StatisticsOptions)] = [
        ("sum", .cumulativeSum), ("average", .discreteAverage), ("min", .discreteMin), ("max", .discreteMax),
        ("mostRecent", .mostRecent), ("duration", .duration),
    ]

    /// The maximum number of intervals that samples are divided into. A year has 525,600 minutes.
    private static let mostShares = 2_000_000

    static func run(_ context: CommandContext) throws -> ExitCode {
        let store = try context.openForReading()
        let questions = try questions(context, store)
        for question in questions { try bound(question.query, store, context) }
        if context.invocation.flag("--explain") {
            for question in questions { try StatisticsExplanation(store: store, context: context).say(question.query) }
        }
        if context.invocation.flag("--follow") {
            guard context.format == .ndjson, !context.invocation.flag("--empty") else {
                throw context.invocation.invalid(
                    "--format", value: context.format.rawValue, expected: "ndjson with --follow, and no --empty")
            }
            try StatisticsFollower(questions: questions, store: store, context: context).run()
            return .success
        }
        let limit = try context.invocation.integer("--limit", in: 0...Int.max) ?? .max
        // The columns of a CSV file with several types.
        let all = questions.reduce(into: StatisticsOptions()) { $0.formUnion($1.line.shown) }
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
                        row: StatisticsLine.columns(shown: all, ranges: ranges, hasCases: hasCases), to: &bytes)
                }
                try batches.each { rows in
                    for row in rows {
                        let cells = question.line.cells(row, among: all, ranges: ranges.count, hasCases: hasCases)
                        context.csv.append(row: cells, to: &bytes)
                    }
                    try context.streams.output.write(bytes)
                    bytes.removeAll(keepingCapacity: true)
                }
                try context.streams.output.write(bytes)
            case .table:
                let title = questions.count > 1 ? (index == 0 ? "" : "\n") + "\(question.query.type.id)\n" : ""
                try StatisticsTables(context: context, batches: batches, title: title).write()
            }
        }
        return .success
    }

    private static func questions(_ context: CommandContext, _ store: SampleStore) throws -> [StatisticsQuestion] {
        let invocation = context.invocation
        var types: [SampleType] = []
        for type in try context.types(invocation.argument("TYPE") ?? "") where !types.contains(type) {
            guard type.kind == .quantity || type.kind == .category else {
                throw invocation.invalid(
                    "TYPE", value: type.id,
                    expected: "a quantity type or a category: the samples of a \(type.kind.name) are no amounts")
            }
            types.append(type)
        }
        let text = invocation.string("--every") ?? ""
        guard let interval = CalendarInterval(text) else {
            throw invocation.invalid("--every", value: text, expected: "a count and m, h, d, w, mo or y, such as 1d")
        }
        if invocation.flag("--own-zone"), !interval.unit.isOfDays {
            throw invocation.invalid("--every", value: text, expected: "days or longer with --own-zone")
        }
        return try types.map { try StatisticsQuestion($0, interval, store, context) }
    }

    /// Refuses a query with millions of intervals.
    private static func bound(_ query: StatisticsQuery, _ store: SampleStore, _ context: CommandContext) throws {
        var shares = try store.shares(of: query)
        if query.includesGaps, let (first, last) = try store.extent(of: query) {
            shares = max(shares, query.intervals.index(of: query.to ?? last) - query.intervals.index(of: query.from ?? first))
        }
        guard shares > mostShares else { return }
        throw context.invocation.invalid(
            "--every", value: "\(query.intervals.interval)",
            expected: """
                longer stretches, or less time with --from and --to: samples of \(query.type.id) would be shared over, or gaps shown as, \
                \(Readable.count(shares)) stretches, and the most is \(Readable.count(mostShares))
                """)
    }
}
