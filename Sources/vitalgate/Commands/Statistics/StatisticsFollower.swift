import CommandLineKit
import Formats
import HealthModel
import Hub
import SampleStore

/// Writes statistics, and each row again when it changes.
struct StatisticsFollower {
    let questions: [StatisticsQuestion]
    let store: SampleStore
    let context: CommandContext

    func run() throws {
        // This precedes the first read, so that a commit in between is not missed.
        let bell = try StoreBell(store: store.path)
        let followed = try questions.map { question in
            (question: question, collection: try StatisticsCollection(question.query, in: store))
        }
        let commits = PromptCommits(store: store.path, machine: context.machine)
        while true {
            for (question, collection) in followed {
                let start = ContinuousClock.now
                let update = try collection.update()
                if context.invocation.flag("--explain"), update.read > 0 {
                    let microseconds = start.duration(to: .now) / .microseconds(1)
                    context.note(
                        """
                        \(question.query.type.id): \(Readable.count(update.changed.count)) changed, \(Readable.count(update.read, "row")) \
                        read, \((microseconds / 100).rounded() / 10) ms
                        """)
                }
                for row in update.changed {
                    try context.streams.output.write(question.line.object(row.converted(by: question.conversion)).line)
                }
            }
            try context.streams.output.flush()
            commits.reconnectIfNeeded()
            try bell.wait()
            // Throws if the file was replaced, since nothing is written to the old one any more.
            try store.checkPlace()
        }
    }
}
