import CommandLineKit
import Formats
import HealthModel
import SampleStore

struct StatisticsTables {
    let context: CommandContext
    let batches: StatisticsBatches
    let title: String

    /// Writes the output. A table that exceeds one batch is read twice: once for the shared properties, and once to write it.
    func write() throws {
        let report = StatisticsReport(question: batches.question)
        let terminal = context.streams.outputTerminal
        var frame = StatisticsFrame()
        var only: [Statistics]? = []
        try batches.each { rows in
            only = frame.count == 0 ? rows : nil
            report.add(rows, to: &frame)
        }
        if frame.count == 0, batches.limit > 0 {
            context.note(title.isEmpty ? "no samples" : "no samples of \(batches.question.name)")
        }
        var isFirst = true
        func write(_ rows: [Statistics]) throws {
            let text = report.table(rows, frame, header: isFirst, width: terminal.width, unicode: terminal.isUnicode)
            try context.streams.output.write((isFirst ? title : "") + text)
            isFirst = false
        }
        if let only { try write(only) } else { try batches.each(write) }
    }
}
