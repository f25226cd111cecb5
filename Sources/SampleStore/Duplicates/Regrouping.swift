import HealthModel

/// Groups reports again (``ReportGrouping``) and applies the difference. Used inside a transaction.
///
/// A search compares a reading with the samples that are there when it arrives. That suffices if there is one possible partner. If there
/// are several, or the partner already has a report of that path, the measurements depend on all of these reports.
final class Regrouping {
    private let connection: Connection
    private let deletion: Deletion
    private let window: ReportWindow

    init(_ deletion: Deletion) {
        (connection, self.deletion) = (deletion.connection, deletion)
        window = ReportWindow(connection: deletion.connection)
    }

    /// Groups the reports around these again.
    ///
    /// - Parameters:
    ///   - arriving: Those that just arrived.
    ///   - provisional: Those of them that are stored as a duplicate of a sample that already has one of their path. They are samples of their
    ///     own if their reports cannot be grouped.
    func update(
        around keys: [SampleKey], arriving: Set<SampleKey> = [], provisional: Set<SampleKey> = []
    ) throws(StoreError) {
        var seen: Set<SampleKey> = []
        window.arriving = arriving
        for key in keys where !seen.contains(key) {
            guard let content = try window.content(around: key) else {
                if provisional.contains(key) { try separate(key) }
                continue
            }
            seen.formUnion(content.members.keys)
            try apply(try grouping(content, around: key), content)
            window.arriving.subtract(content.members.keys)
        }
    }

    private func grouping(
        _ content: ReportWindow.Content, around key: SampleKey
    ) throws(StoreError) -> ReportGrouping<SampleKey> {
        try ReportGrouping(content.members.values.map(\.report) + content.linked.values) {
            (path: ReportPath, low: Int64, high: Int64) throws(StoreError) -> Int in
            try window.count(path, of: key, from: low, before: high)
        }
    }

    /// Stores the groups that are not as they were.
    private func apply(_ grouping: ReportGrouping<SampleKey>, _ content: ReportWindow.Content) throws(StoreError) {
        // A report that just arrived may have changed its sample.
        var isChanged = content.members.values.contains { $0.group.isEmpty }
        for group in grouping.groups {
            let keys = [group.representative] + group.others
            let members = keys.compactMap { content.members[$0] }
            guard let first = members.first, members.count == keys.count, first.group != Set(keys) else { continue }
            try join(members)
            isChanged = true
        }
        if isChanged { try update(content.members) }
        for link in grouping.links where content.members[link.key] != nil || content.members[link.other] != nil {
            guard try !connection.duplicates.links(of: link.key).contains(where: { $0.other == link.other }) else { continue }
            try connection.duplicates.link(link.key, with: link.other, rule: link.rule.rawValue, by: deletion.ingest)
        }
    }

    /// Makes a duplicate a measurement of its own.
    private func separate(_ key: SampleKey) throws(StoreError) {
        let isSample = try window.reader.row(at: key) != nil
        // It may have been the most precise report of the measurement that it leaves.
        let left = try connection.duplicates.duplicate(at: key)?.first
        if !isSample { try deletion.promoteDuplicate(key) }
        try connection.duplicates.remove(key)
        window.arriving.remove(key)
        window.forget()
        try LiveSampleUpdate(deletion).update([key] + (left.map { [$0] } ?? []))
    }

    /// Makes reports one measurement, most precise first.
    private func join(_ members: [ReportWindow.Member]) throws(StoreError) {
        // A report that was a sample from the beginning stays the original, so that less is written.
        guard let original = members.first(where: { !$0.isDuplicate }) ?? members.first else { return }
        let duplicates = connection.duplicates
        if original.isDuplicate {
            if !original.isSample { try deletion.promoteDuplicate(original.report.key) }
            try duplicates.remove(original.report.key)
        }
        let first = original.report.key
        for member in members where member.report.key != first {
            let key = member.report.key
            if member.isDuplicate {
                try duplicates.set(first: first, of: key)
            } else {
                let isSame = key.series == first.series
                let rule = isSame ? .unit : DuplicateRule.of(member.report.origin.type, lasting: member.report.trace.duration > 0)
                let decision = try duplicates.decision(of: member.entry, first.series, rule: rule.rawValue, merge: nil)
                try duplicates.add(key, of: first, decision: decision)
            }
        }
    }

    /// Updates the samples of measurements.
    private func update(_ members: [SampleKey: ReportWindow.Member]) throws(StoreError) {
        let keys = members.keys.sorted { ($0.series, $0.start, $0.high, $0.low) < ($1.series, $1.start, $1.high, $1.low) }
        window.forget()
        try LiveSampleUpdate(deletion).update(keys)
    }
}
