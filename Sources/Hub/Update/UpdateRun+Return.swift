import Glibc

extension UpdateRun {
    /// Installs the old version again. If this version cannot use the store any more, its copy takes its place, and the readings that arrived
    /// after the copy are stored in it again. Each part can be repeated after an interruption.
    func goBack(_ begun: UpdateJournal, because reason: String) throws(UpdateFailure) -> UpdateState.Attempt {
        var journal = begun
        report("returning to \(journal.from): \(reason)")
        // The room is needed first, because the disk may be full.
        unlink(reserve)
        (journal.step, journal.reason) = (.returning, reason)
        // Without room for it, the earlier step leads here as well.
        try? journal.write(in: folder)
        do throws(UpdateFailure) {
            try restoreStore(&journal)
            try restorePackage(journal)
        } catch {
            unlink(marker)
            return note(.failed, journal.from, journal.to, "\(reason). \(error)")
        }
        return finish(journal, reason)
    }

    /// While the store is replaced, nothing starts the hub.
    private func restoreStore(_ journal: inout UpdateJournal) throws(UpdateFailure) {
        let descriptor = open(marker, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        if descriptor >= 0 { close(descriptor) }
        defer { unlink(marker) }
        let installed = tools.installed()
        let isUnchanged =
            installed == ("installed", journal.from) && !store.isForOtherVersion && !journal.isDamaged && !store.hasNewer
        guard !isUnchanged else { return }
        try tools.stopService()
        if journal.isDamaged || store.isForOtherVersion, access(store.copy, F_OK) == 0 {
            report("putting the earlier store in its place")
            try store.putCopyInPlace()
        }
        guard store.hasNewer, !journal.isCarriedOut else { return }
        let left = [store.carryOut(journal, seconds: limits.carrying), store.removeAccess { report($0) }].compactMap { $0 }
        journal.left = left.isEmpty ? nil : left.joined(separator: ", ")
        journal.isCarriedOut = true
        try? journal.write(in: folder)
    }

    private func restorePackage(_ journal: UpdateJournal) throws(UpdateFailure) {
        if tools.installed() != ("installed", journal.from) {
            report("installing \(journal.from) again")
            try tools.installOlder(journal.packages[0])
        }
        if journal.wasActive { try tools.startService() }
    }

    private func finish(_ journal: UpdateJournal, _ reason: String) -> UpdateState.Attempt {
        var reason = reason
        var left = journal.left
        if journal.isCarriedOut {
            let carried = store.carryIn(seconds: limits.carrying)
            if let problem = carried.problem {
                if let path = store.retainCarried(journal.to) {
                    reason += ". \(path) has the readings that arrived in between: \(problem)"
                } else {
                    left = [problem, left].compactMap { $0 }.joined(separator: ", ")
                }
            } else if carried.lines > 0 {
                report("\(carried.lines) readings of the time in between are stored again")
            }
        }
        if let left {
            reason += ". \(store.retainNewer(journal.to)) has what arrived in between: \(left)"
        } else {
            store.removeNewer()
        }
        UpdateJournal.remove(in: folder)
        cleanUp(keeping: journal.from)
        return note(.returned, journal.from, journal.to, reason)
    }
}
