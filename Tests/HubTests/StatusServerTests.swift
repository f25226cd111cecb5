import EventLoopKit
import Glibc
import HealthModel
import Pipeline
import PipelineTesting
import SampleStore
import Testing

@testable import Hub

/// The status socket on the hub's side: a request is answered, a follower is notified, and no client blocks the hub.
@Suite struct StatusServerTests {
    let bench: StatusBench

    init() throws { bench = try StatusBench() }

    @Test func oneAnswerThenTheEnd() throws {
        try bench.hub.start()
        let asker = try bench.ask(StatusBench.status)
        let status = try #require(asker.statuses().first)
        #expect(asker.read() == nil)
        #expect(status.hub?.process == getpid())
        #expect(status.store.path.hasSuffix("/store.db") && status.store.bytes > 0)
        #expect(status.sources.map(\.name) == ["frail", "simulation"])
        #expect(status.sources.map(\.state) == ["running", "running"])
        #expect(status.devices.map(\.name) == ["Simulated strap", "Simulated thermometer"])
        #expect(status.devices.map(\.battery) == [90, 76])
        #expect(status.devices.map(\.last) == [bench.clock.now, bench.clock.now])
        #expect(status.devices.map(\.expectedInterval) == [1, 10])
        #expect(try status.today.since == Instant("2026-11-20T00:00:00+01:00"))
        try bench.stop()
    }

    @Test func idleMeansIdle() throws {
        let before = bench.loop.load
        #expect(before.timers == 0, "nobody looks")
        let follower = try bench.ask(StatusBench.follow)
        #expect(follower.statuses().count == 1)
        #expect(bench.hub.onChange != nil)
        try bench.hub.start()
        bench.pass(.seconds(2))
        #expect(bench.loop.load.timers > 2, "two sensors, and the time when one counts as silent")
        try bench.stop()
        #expect(follower.read() != nil)
        #expect(bench.loop.load.timers == 0)
    }

    /// Who wants readings within a second is answered once, so that it knows whom it has asked, and has them committed until it goes.
    @Test func commitsPromptlyOnRequest() throws {
        var hurry: [Bool] = []
        bench.server.onHurry = { [bench] in
            hurry.append($0)
            bench.hub.live.needsPromptCommits = $0
        }
        try bench.hub.start()
        for _ in 0..<5 { bench.pass(.seconds(1)) }
        let status = try #require(try bench.ask(StatusBench.status).statuses().first)
        let waiting = try #require(status.today.waiting)
        #expect(waiting > 0 && status.today.stored > 0)
        #expect(waiting == bench.hub.live.waitingSamples, "what is counted as stored is, and what waits is told apart")
        do {
            let promptListeners = try bench.ask(#"{"vitalgate":1,"ask":"hurry"}"# + "\n")
            #expect(promptListeners.statuses().map(\.store.path) == [status.store.path])
            #expect(hurry == [true] && bench.hub.live.waitingSamples == 0)
            bench.pass(.seconds(1))
            #expect(promptListeners.read()?.isEmpty == true, "it is told no more, and stays")
            let second = try bench.ask(#"{"vitalgate":1,"ask":"hurry"}"# + "\n")
            #expect(second.statuses().count == 1 && hurry == [true])
            withExtendedLifetime((promptListeners, second)) {}
        }
        bench.pass()
        #expect(hurry == [true, false])
        #expect(bench.hub.onChange == nil, "it asked for no status")
        let many = try (0..<9).map { _ in try bench.ask(#"{"vitalgate":1,"ask":"hurry"}"# + "\n") }
        #expect(many.last?.read()?.contains("busy") == true)
        #expect(try bench.ask(StatusBench.follow).statuses().count == 1, "there is room for others")
        try bench.stop()
    }

    @Test func releasesClosedFollower() throws {
        let before = bench.loop.load
        do {
            let follower = try bench.ask(StatusBench.follow)
            #expect(follower.statuses().count == 1)
            #expect(bench.loop.load.watches == before.watches + 1)
        }
        bench.pass()
        #expect(bench.loop.load == before)
        #expect(bench.hub.onChange == nil)
    }

    @Test func sendsStatusAtMostOncePerSecond() throws {
        let followers = [try bench.ask(StatusBench.follow), try bench.ask(StatusBench.follow)]
        for follower in followers { #expect(follower.statuses().count >= 1) }
        bench.pass(.seconds(5))
        for follower in followers { #expect(follower.statuses().isEmpty, "nothing has changed") }
        try bench.hub.start()
        bench.pass()
        for follower in followers { #expect(follower.statuses().last?.devices.first?.last == bench.clock.now) }
        for _ in 0..<10 {
            bench.hub.changed(bench.frail)
            bench.pass(.milliseconds(50))
        }
        for follower in followers { #expect(follower.statuses().isEmpty) }
        for _ in 0..<20 { bench.pass(.milliseconds(100)) }
        let reported = followers.map { $0.statuses() }
        #expect(reported[0] == reported[1])
        // The readings of two seconds, and what their commit changed in the ledger.
        #expect((2...3).contains(reported[0].count), "\(reported[0].count)")
        #expect(reported[0].last?.today.stored ?? 0 > 0)
        try bench.stop()
        for follower in followers { #expect(follower.read() == nil) }
    }

    @Test func dropsFollowerWithoutReading() throws {
        let sleeper = try bench.ask(StatusBench.follow)
        let reader = try bench.ask(StatusBench.follow)
        let watches = bench.loop.load.watches
        var reported = 0
        // The data of these minutes fills any socket's buffer many times.
        for number in 0..<25 {
            try bench.connectMany("\(number)")
            reported += reader.statuses().count
        }
        #expect(reported >= 25)
        #expect(bench.loop.load.watches == watches - 1, "the sleeper is gone")
        // The data that was sent is readable, in complete lines except the last one, and then the end.
        let text = try #require(sleeper.read())
        #expect(text.utf8.count < 1 << 20)
        #expect(sleeper.read() == nil)
        #expect(text.split(separator: "\n").dropLast().allSatisfy { StatusMessage.answer(Array($0.utf8))?.status != nil })
    }

    @Test func slowFollowerGetsLatestStatus() throws {
        let sleeper = try bench.ask(StatusBench.follow)
        for number in 0..<12 { try bench.connectMany("\(number)") }
        var text = ""
        // Reading makes room, and what did not fit comes after it.
        for _ in 0..<20 {
            text += sleeper.read() ?? ""
            bench.pass()
        }
        let received = text.split(separator: "\n").map { StatusMessage.answer(Array($0.utf8))?.status?.devices.first?.name }
        #expect(received.count < 12, "not all of it")
        #expect(received.last == "11", "\(received)")
    }

    @Test func sendsStatusWhenSilenceBegins() throws {
        try bench.hub.start()
        bench.pass(.seconds(1))
        let follower = try bench.ask(StatusBench.follow)
        let last = try #require(follower.statuses().last).devices.map(\.last)
        // They are switched off, and nothing happens any more. The strap's last reading is a second younger.
        bench.hub.sources[1].source.stop()
        bench.pass(.seconds(28))
        #expect(follower.statuses().allSatisfy { $0.devices.map(\.silentSince) == [nil, nil] })
        bench.pass(.seconds(1))
        #expect(follower.statuses().last?.devices.map(\.silentSince) == [nil, last[1]])
        bench.pass(.seconds(1))
        #expect(follower.statuses().last?.devices.map(\.silentSince) == last)
        // When their rates are history, there is nothing left to wait for.
        for _ in 0..<6 { bench.pass(.seconds(60)) }
        #expect(try #require(follower.statuses().last).devices.map(\.rate) == [nil, nil])
        #expect(bench.hub.nextTimedChange == nil)
        #expect(bench.loop.load.timers == 0)
        try bench.stop()
    }

    @Test func failedSourceHasReasonAndRetryTime() throws {
        try bench.hub.start()
        bench.hub.failed(bench.frail, SourceError(.inputOutput, "the cable was pulled"))
        let status = try #require(try bench.ask(StatusBench.status).statuses().first)
        let source = try #require(status.sources.first)
        #expect((source.state, source.reason) == ("waiting", "the cable was pulled"))
        #expect(source.retry == Instant(seconds: bench.clock.now.microseconds / 1_000_000 + 1))
        try bench.stop()
    }

    @Test(arguments: [
        ("{}\n", "request"), ("what?\n", "request"), (#"{"vitalgate":2,"ask":"status"}"# + "\n", "version"),
        (#"{"vitalgate":1,"ask":"values"}"# + "\n", "request"), (String(repeating: "x", count: 5000), "request"),
    ])
    func answersInvalidRequestsWithError(text: String, kind: String) throws {
        let asker = try bench.ask(text)
        let answer = try #require(asker.read())
        #expect(StatusMessage.answer(Array(answer.dropLast().utf8))?.error?.kind == kind)
        #expect(asker.read() == nil)
    }

    @Test func incompleteRequestTimesOut() throws {
        let before = bench.loop.load
        let asker = try bench.ask(String(StatusBench.status.prefix(9)))
        #expect(asker.read()?.isEmpty == true)
        asker.transmit(String(StatusBench.status.dropFirst(9)))
        bench.pass()
        #expect(asker.statuses().count == 1)
        let silent = try bench.ask("")
        do { _ = try bench.ask("{") }
        bench.pass(.seconds(11))
        #expect(silent.read() == nil)
        #expect(bench.loop.load == before)
    }

    @Test func limitsFollowers() throws {
        var followers: [StatusBench.Asker] = []
        for _ in 0..<StatusServer.maximumFollowers { followers.append(try bench.ask(StatusBench.follow)) }
        let more = try bench.ask(StatusBench.follow)
        #expect(more.read()?.contains(#""kind":"busy""#) == true)
        // A single request is not a subscription.
        #expect(try bench.ask(StatusBench.status).statuses().count == 1)
        // Those who only connect are bounded, too, and give their place to who asks.
        var idle: [StatusBench.Asker] = []
        for _ in 0..<20 { idle.append(try bench.ask("")) }
        #expect(idle[0].read() == nil)
        #expect(idle[19].read() != nil)
        #expect(try bench.ask(StatusBench.status).statuses().count == 1)
        #expect(followers[0].statuses().isEmpty == false)
    }

    /// Incomplete lines, endless lines, invalid numbers, and invalid JSON are answered or dropped, and leave nothing behind.
    @Test(arguments: [
        "{", "\u{0}\u{0}\n", "[[[[[[[[\n", #"{"vitalgate":99999999999999999999999,"ask":"status"}"# + "\n",
        #"{"vitalgate":-1}"# + "\n",
        String(repeating: "x", count: 100_000), #"{"vitalgate":1,"ask":"\#u{202E}status"}"# + "\n", "\n\n\n",
    ]) func aHostileAsker(text: String) throws {
        let before = bench.loop.load
        do {
            let asker = try bench.ask(text)
            #expect(asker.statuses().isEmpty)
        }
        bench.pass(.seconds(11))
        #expect(bench.loop.load == before)
        #expect(try bench.ask(StatusBench.status).statuses().count == 1)
    }

    @Test func statusContainsNoValues() throws {
        try bench.hub.start()
        let asker = try bench.ask(StatusBench.status)
        let text = try #require(asker.read())
        #expect(!text.contains("36.") && !text.contains("heartRate"))
        try bench.stop()
    }
}
