import Glibc
import HealthModel
import PipelineTesting
import SampleStore
import Testing

@testable import Hub

/// An update is applied, or the machine is as before, with all readings.
@Suite struct UpdateRunTests {
    private let bench: UpdateBench

    init() throws { bench = try UpdateBench() }

    private func expectReturned(_ attempt: UpdateState.Attempt?, _ reason: String, readings: Int) throws {
        #expect(attempt?.outcome == .returned)
        #expect(attempt?.reason?.contains(reason) == true, "\(attempt?.reason ?? "")")
        #expect(bench.installed == "installed 1.0")
        #expect(bench.folder.text("service") == "active\n")
        #expect(bench.leftovers == ["vitalgate_1.0_amd64.deb"])
        #expect(try bench.readings() == readings)
        #expect(bench.state?.last == attempt)
        #expect(bench.folder.text("log").contains("the update to 2.0 was undone: "))
    }

    // MARK: Good

    @Test func appliesAVersionThatPasses() throws {
        try bench.set("before", bench.adding(6...8))
        let attempt = try bench.run().apply()
        #expect(attempt?.outcome == .applied)
        #expect(bench.installed == "installed 2.0")
        // The next update needs it for its way back.
        #expect(bench.leftovers == ["vitalgate_2.0_amd64.deb"])
        #expect(try bench.readings() == 8)
        #expect(bench.state?.installed == "2.0")
        #expect(bench.state?.available == nil)
        #expect(bench.state?.trouble == nil)
    }

    @Test func doesNothingWithoutANewerVersion() throws {
        for available in ["1.0", "0.9", "(none)"] {
            try bench.set("available", available)
            #expect(try bench.run().apply() == nil)
        }
        #expect(bench.installed == "installed 1.0")
        #expect(bench.state?.checked != nil)
    }

    /// The old version also reported them, such as an unused profile of the user that cannot be read.
    @Test func acceptsProblemsThatTheOldVersionHadToo() throws {
        let script = bench.folder.text("bin/vitalgate").replacing("\"installed 2.0\") ", with: "*) ")
        try bench.folder.write("bin/vitalgate", script)
        try bench.set("problems", "profile: mine.json5: not JSON5\n")
        #expect(try bench.run().apply()?.outcome == .applied)
        try bench.set("installed", "installed 1.0")
        try bench.set("before", "echo 'profile: scale.json5: not JSON5' >>\"$M/problems\"")
        #expect(try bench.run().apply()?.reason == "profile: scale.json5: not JSON5")
    }

    // MARK: Refused

    @Test(arguments: [("offline", ""), ("available", "3.0")])
    func changesNothingIfThePackageCannotBeHad(name: String, text: String) throws {
        try bench.set(name, text)
        if name == "offline" {
            #expect(throws: UpdateFailure.self) { try bench.run().apply() }
            #expect(bench.state?.failure?.contains("not signed") == true)
        } else {
            #expect(try bench.run().apply()?.outcome == .refused)
            #expect(bench.state?.trouble?.contains("vitalgate_3.0_amd64.deb cannot be downloaded") == true)
        }
        #expect(bench.installed == "installed 1.0")
    }

    @Test func refusesWithoutTheWayBack() throws {
        unlink(bench.folder.path("repository/1.0"))
        let attempt = try bench.run().apply()
        #expect(attempt?.outcome == .refused)
        #expect(attempt?.reason?.contains("needed for the way back") == true)
        #expect(bench.installed == "installed 1.0")
        #expect(bench.leftovers == [])
    }

    @Test func refusesWithADamagedStore() throws {
        let script = bench.folder.text("bin/vitalgate")
        try bench.set("bin/vitalgate", script.replacing("exit 0 ;;", with: "echo 'store: page 3 is damaged'; exit 65 ;;"))
        let attempt = try bench.run().apply()
        #expect(attempt?.outcome == .refused)
        #expect(attempt?.reason?.contains("page 3 is damaged") == true)
    }

    @Test func stopsBeforeTheInstallation() throws {
        bench.isStopAsked = true
        #expect(throws: UpdateFailure.self) { try bench.run().apply() }
        #expect(bench.installed == "installed 1.0")
        #expect(bench.leftovers.allSatisfy { $0.hasSuffix(".deb") })
        #expect(bench.state?.last == nil)
    }

    @Test func runsOnlyOnce() throws {
        let first = try bench.run()
        #expect(try first.resume() == nil)
        let error = #expect(throws: UpdateFailure.self) { try bench.run().apply() }
        #expect(error?.description == "another update is running")
    }

    // MARK: Returned

    @Test func returnsIfTheInstallationFails() throws {
        try bench.set("broken", "")
        try expectReturned(try bench.run().apply(), "it cannot be installed: apt-get install: dpkg: error", readings: 5)
    }

    @Test func returnsIfTheServiceDoesNotRun() throws {
        try bench.set("after", "echo activating >\"$M/service\"")
        try expectReturned(try bench.run().apply(), "its service does not keep running: the line of the log", readings: 5)
    }

    @Test func returnsIfTheTestFindsAProblem() throws {
        try bench.set("problems", "profile: a\nprofile: b\n")
        try bench.set("before", bench.adding(6...8))
        try expectReturned(try bench.run().apply(), "profile: a (and 1 more)", readings: 8)
    }

    @Test func returnsToTheEarlierStoreIfThisVersionCannotReadTheNewOne() throws {
        try bench.set("problems", "source: radio does not run: gone\n")
        // Three readings with each version, and then the new schema.
        try bench.set("before", bench.adding(6...8))
        try bench.set("after", "\(bench.adding(9...11)) && \(UpdateBench.migrating)")
        try expectReturned(try bench.run().apply(), "radio does not run", readings: 11)
        #expect(bench.said.contains("6 readings of the time in between are stored again"))
    }

    /// The log of the newer store then stays beside it, and must not be replayed over the earlier one.
    @Test func returnsToTheEarlierStoreWhileAProgramHasTheNewOneOpen() throws {
        let open = try SampleStore(path: bench.folder.store, access: .write)
        try bench.set("problems", "profile: a\n")
        try bench.set("after", "\(bench.adding(6...8)) && \(UpdateBench.migrating)")
        try withExtendedLifetime(open) { try expectReturned(try bench.run().apply(), "profile: a", readings: 8) }
    }

    @Test func returnsToTheEarlierStoreIfItWasDamaged() throws {
        try bench.set("problems", "store: heartRate: a UUID is wrong\n")
        try bench.set("after", bench.adding(6...8))
        try expectReturned(try bench.run().apply(), "a UUID is wrong", readings: 8)
    }

    @Test func keepsTheNewerStoreIfItCannotBeRead() throws {
        try bench.set("problems", "profile: a\n")
        try bench.set("carry-fails", "")
        try bench.set("after", "\(bench.adding(6...8)) && \(UpdateBench.migrating)")
        let attempt = try bench.run().apply()
        #expect(attempt?.outcome == .returned)
        #expect(attempt?.reason?.contains("store.db.from-2.0 has what arrived in between") == true, "\(attempt?.reason ?? "")")
        #expect(try bench.readings() == 5)
        let newer = bench.folder.path("store.db.from-2.0")
        try bench.setSchema(of: newer)
        let retained = try bench.folder.vitalgate("query", "heartRate", "--format", "ndjson", store: newer)
        #expect(retained.lines.count == 8, "\(retained.errors)")
    }

    /// A deletion has no line that can be imported.
    @Test func keepsTheNewerStoreIfSomethingWasDeleted() throws {
        try bench.set("problems", "profile: a\n")
        try bench.set(
            "after",
            "\(bench.adding(6...8)) && \"$M/bin/vitalgate\" --store \"$M/store.db\" delete --type heartRate --from 2026-11-20T06:01:00Z "
                + "--to 2026-11-20T06:01:30Z --yes && \(UpdateBench.migrating)")
        let attempt = try bench.run().apply()
        #expect(attempt?.reason?.contains("samples were deleted or repaired") == true, "\(attempt?.reason ?? "")")
        // Also the deleted one.
        #expect(try bench.readings() == 8)
    }

    /// A file of an earlier update, whose readings may have been erased in the meantime.
    @Test func importsNoLinesOfAnEarlierUpdate() throws {
        try bench.set("update/carried.ndjson", bench.line(9))
        try bench.set("problems", "profile: a\n")
        try expectReturned(try bench.run().apply(), "profile: a", readings: 5)
    }

    @Test func keepsLinesThatCannotBeStoredAgain() throws {
        try bench.set("problems", "profile: a\n")
        try bench.set("recover-fails", "")
        try bench.set("after", "\(bench.adding(6...8)) && \(UpdateBench.migrating)")
        let attempt = try bench.run().apply()
        #expect(
            attempt?.reason?.contains("store.db.from-2.0.ndjson has the readings that arrived in between: 0 of 3") == true,
            "\(attempt?.reason ?? "")")
        #expect(bench.leftovers == ["store.db.from-2.0.ndjson", "vitalgate_1.0_amd64.deb"])
        #expect(bench.folder.mode("store.db.from-2.0.ndjson") == 0o600)
        #expect(bench.folder.text("store.db.from-2.0.ndjson").split(separator: "\n").count == 3)
    }

    /// The copy has the readings as they were before.
    @Test func addsNoFormsOfReadingsInTheCopy() throws {
        try interrupt(.returning) { _, journal in
            journal.reason = "profile: a"
            try bench.set("installed", "installed 2.0")
            try bench.add(6)
            let store = try SampleStore(path: bench.folder.store, access: .write)
            // A correction of a reading, a correction of this correction, and one of a reading that is not in the copy.
            for (number, value) in [(51, 91), (91, 92), (56, 96)] {
                let amount = Correction.Amount(
                    numeral: Numeral(shortest: Double(value)), unit: SampleType.heartRate.canonicalUnit)
                let uuid = try #require(SampleIdentity(try uuid(of: number)))
                _ = try store.samples.correct(
                    [uuid], with: Correction(amounts: [amount]), received: Instant(seconds: 1_796_000_000 + Int64(value)))
            }
            let assign = ["devices", "assign", "--samples", try uuid(of: 52), "--person", UpdateBench.guest]
            #expect(try bench.folder.vitalgate(assign).status == 0)
            try shell(UpdateBench.migrating)
        }
        let attempt = try bench.run().resume()
        #expect(
            attempt?.reason?.contains("earlier samples were corrected, repaired or assigned") == true, "\(attempt?.reason ?? "")")
        #expect(try values() == [51, 52, 53, 54, 55, 96])
    }

    private func lines() throws -> [JSON] {
        try bench.folder.vitalgate("query", "heartRate", "--format", "ndjson").lines.map { try JSON($0) }
    }

    private func values() throws -> [Int] { try lines().compactMap { $0["value"].integer }.sorted() }

    private func uuid(of value: Int) throws -> String {
        try #require(try lines().first { $0["value"].integer == value }?["uuid"].text)
    }

    /// What a client saved is stored again, and access that was removed after the copy stays removed.
    @Test func returnsWithoutAccessThatWasRemoved() throws {
        let now = Machine.current().now()
        let store = try SampleStore(path: bench.folder.store, access: .write)
        let clients = try ["saver", "reader", "gone"].map { try store.clients.add(named: $0, purpose: "Tests", at: now) }
        let tokens = try clients.map { try store.clients.makeToken(for: $0, at: now) }
        func grant(_ reading: Grant.Reading, _ mayWrite: Bool, _ client: Client) throws {
            try store.clients.set(
                Grant(person: store.owner, type: ObjectType(.heartRate), reading: reading, mayWrite: mayWrite), of: client,
                at: now)
        }
        for client in clients { try grant(.from(Instant(seconds: 0)), true, client) }
        let session = try #require(
            try store.pageSessions.open(with: try store.pageSessions.makeCode(for: store.owner, at: now), at: now))
        let code = try store.pageSessions.makeCode(for: store.owner, at: now)
        try bench.set("saved.ndjson", bench.line(6, source: "client.\(clients[0].id)"))
        try interrupt(.returning) { _, journal in
            journal.reason = "profile: a"
            try bench.set("installed", "installed 2.0")
            #expect(try bench.folder.vitalgate("import", bench.folder.path("saved.ndjson")).status == 65)
            #expect(try bench.folder.vitalgate("update", "recover", bench.folder.path("saved.ndjson")).status == 0)
            try store.clients.revokeTokens(of: clients[0], at: now)
            try grant(.none, false, clients[1])
            try store.clients.remove(clients[2])
            try store.pageSessions.end()
            _ = try store.pageSessions.open(with: code, at: now)
            try shell(UpdateBench.migrating)
        }
        try expectReturned(try bench.run().resume(), "profile: a", readings: 6)
        #expect(bench.said.contains("access that was removed in the time in between is removed again"))
        let returned = try SampleStore(path: bench.folder.store, access: .write)
        #expect(try returned.clients.all().map(\.name) == ["reader", "saver"])
        #expect(try tokens.map { try returned.clients.client(bearing: $0, at: now)?.name } == [nil, "reader", nil])
        #expect(try returned.clients.grants(of: clients[0]).map(\.mayWrite) == [true])
        #expect(try returned.clients.grants(of: clients[1]).allSatisfy { $0.reading == .none && !$0.mayWrite })
        #expect(try returned.pageSessions.session(bearing: session.token, at: now) == nil)
        #expect(try !returned.pageSessions.isCode(code, at: now))
    }

    @Test func triesDpkgAgain() throws {
        try bench.set("broken", "")
        try bench.set("dpkg-fails", "1\n2\n3\n")
        try expectReturned(try bench.run().apply(), "it cannot be installed", readings: 5)
    }

    @Test func returnsLaterIfDpkgFails() throws {
        try bench.set("problems", "profile: a\n")
        try bench.set("dpkg-fails", String(repeating: "x\n", count: 4))
        try bench.set("after", "\(bench.adding(6...8)) && \(UpdateBench.migrating)")
        let attempt = try bench.run().apply()
        #expect(attempt?.outcome == .failed)
        #expect(attempt?.reason?.contains("database is locked") == true)
        #expect(UpdateRun.isInterrupted(in: bench.folder.path("update")))
        #expect(bench.state?.finding?.weight == .broken)
        try expectReturned(try bench.run().resume(), "profile: a", readings: 8)
    }

    // MARK: Interrupted

    /// The journal of an update that ended after a step, as a power cut leaves it.
    private func interrupt(_ step: UpdateJournal.Step, _ change: (UpdateRun, inout UpdateJournal) throws -> Void) throws {
        let run = try bench.run()
        let copied = try run.store.makeCopy()
        for version in ["1.0", "2.0"] { try bench.folder.write("update/vitalgate_\(version)_amd64.deb", version + "\n") }
        var journal = UpdateJournal(
            from: "1.0", to: "2.0", packages: ["1.0", "2.0"].map { bench.folder.path("update/vitalgate_\($0)_amd64.deb") },
            lastChange: copied.lastChange, quarantined: copied.quarantined, erasures: copied.erasures, wasActive: true,
            running: [],
            problems: [])
        journal.step = step
        try change(run, &journal)
        try journal.write(in: bench.folder.path("update"))
    }

    private func shell(_ words: String) throws {
        let run = ProgramRun.run(["/bin/sh", "-ec", "M='\(bench.folder.root)'; \(words)"], seconds: 60)
        try #require(run.code == 0, "\(run.words)")
    }

    @Test(arguments: ["installed 1.0", "half-installed 2.0", "unpacked 2.0", "half-configured 2.0", "installed 2.0"])
    func returnsAfterAnInterruptionOfTheInstallation(installed: String) throws {
        try interrupt(.installing) { _, _ in try bench.set("installed", installed) }
        try bench.add(6)
        try expectReturned(try bench.run().apply(), "it was interrupted during the installation", readings: 6)
    }

    @Test func testsAgainAfterAnInterruptionOfTheTest() throws {
        try interrupt(.testing) { _, _ in try bench.set("installed", "installed 2.0") }
        #expect(try bench.run().resume()?.outcome == .applied)
        #expect(bench.leftovers == ["vitalgate_2.0_amd64.deb"])
    }

    /// Between any two of the calls that replace the store.
    @Test(arguments: 0...5)
    func returnsAfterAnInterruptionOfTheReturn(moment: Int) throws {
        try interrupt(.returning) { run, journal in
            journal.reason = "profile: a"
            try bench.set("installed", "installed 2.0")
            try shell("\(bench.adding(6...8)) && \(UpdateBench.migrating)")
            try bench.set("service", "inactive\n")
            let (path, newer) = (bench.folder.store, run.store.newer)
            if moment >= 1 { try bench.folder.write("update/returning", "") }
            if (2...3).contains(moment) {
                for suffix in ["-wal", "-shm"] { rename(path + suffix, newer + suffix) }
            }
            if moment == 3 { #expect(link(path, newer) == 0) }
            if moment >= 4 { try run.store.putCopyInPlace() }
            if moment >= 5 {
                #expect(run.store.carryOut(journal, seconds: 60) == nil)
                journal.isCarriedOut = true
                // The program of the newer version is gone.
                try bench.set("installed", "installed 1.0")
                try bench.set("carry-fails", "")
            }
        }
        try expectReturned(try bench.run().resume(), "profile: a", readings: 8)
    }

    @Test func reportsAJournalThatCannotBeRead() throws {
        try bench.folder.write("update/journal.json", "{")
        #expect(throws: UpdateFailure.self) { try bench.run().resume() }
    }
}
