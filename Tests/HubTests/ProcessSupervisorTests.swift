import EventLoopKit
import PipelineTesting
import Testing

@testable import Hub

/// The states that processes beside the hub report.
@Suite struct ProcessSupervisorTests {
    private let loop = EventLoop(clock: RadioBench.Clock())
    private let supervisor: ProcessSupervisor

    init() { supervisor = ProcessSupervisor(loop: loop) }

    private func run(_ script: String, until isDone: (HubStatus.ProcessState) -> Bool) -> HubStatus.ProcessState? {
        supervisor.run(["alerts": ["/bin/sh", "-c", script], "target a": ["/bin/sh", "-c", script]], reporting: ["alerts"])
        for _ in 0..<10_000 {
            if let state = supervisor.states.first, isDone(state) { return state }
            loop.turn(maximumWait: .milliseconds(10))
        }
        return nil
    }

    @Test func reportedFailure() throws {
        defer { supervisor.stop() }
        let state = run("echo failed the disk is full; exec sleep 600") { $0.failure != nil }
        #expect(state?.name == "alerts" && state?.failure == "the disk is full" && state?.started != nil)
        #expect(supervisor.states.count == 1, "others report nothing")
    }

    @Test func endOfFailure() throws {
        defer { supervisor.stop() }
        var failed = false
        let state = run("echo failed the disk is full; sleep 0.2; echo working; exec sleep 600") { state in
            failed = failed || state.failure != nil
            return failed && state.failure == nil
        }
        #expect(state?.started != nil)
    }

    @Test func endedProcess() throws {
        defer { supervisor.stop() }
        let state = run("exit 3") { $0.failure != nil && $0.started == nil }
        #expect(state?.failure == "the process ended (status 3)" && state?.retriesAt != nil)
    }

    @Test func manyLinesAtOnce() throws {
        defer { supervisor.stop() }
        let long = String(repeating: "x", count: 5000)
        let state = run("echo failed \(long); exec sleep 600") { $0.failure != nil }
        #expect(state?.failure == String(long.prefix(249)))
    }
}
