import FoundationEssentials
import Glibc
import Testing

/// `observe`: a command is notified of new samples, again after a kill, and finds them after the anchor in the message.
@Suite(.timeLimit(.minutes(15))) struct ObserveCommandTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try take(1, "heartRate", "/min", 61)
    }

    private func take(_ minute: Int, _ type: String, _ unit: String, _ value: Int) throws {
        let file = try folder.write(
            "\(type)\(minute).csv", "time,type,value,unit\n2026-03-30T08:0\(minute):00Z,\(type),\(value),\(unit)\n")
        #expect(try folder.vitalgate("import", file).status == 0)
    }

    /// Returns once the condition is true. The suite's time limit ends a test that would hang.
    private func wait(until isSo: () -> Bool) async throws {
        while !isSo() { try await Task.sleep(for: .milliseconds(20)) }
    }

    private func start(_ arguments: [String]) throws -> RunningVitalgate {
        try RunningVitalgate(["--store", folder.store] + arguments, environment: Vitalgate.environment(home: folder.root))
    }

    private func reported() throws -> [JSON] {
        try folder.text("told").split(separator: "\n").map { try JSON(String($0)) }
    }

    @Test func resendsEventAfterKill() async throws {
        let folder = folder
        let arguments = [
            "observe", "pulse", "--types", "heartRate", "--", "/bin/sh", "-c",
            "cat >> '\(folder.path("told"))'; ! test -e '\(folder.path("deaf"))'",
        ]
        try folder.write("deaf", "")
        let first = try start(arguments)
        try await wait { access(folder.store + "-observer-pulse", F_OK) == 0 }
        try take(2, "heartRate", "/min", 62)
        try await wait { !folder.text("told").isEmpty }
        first.signal(SIGKILL)
        _ = try first.wait()
        unlink(folder.path("deaf"))
        let count = try reported().count
        let second = try start(arguments)
        try await wait { ((try? reported().count) ?? 0) > count }
        try take(3, "heartRate", "/min", 63)
        try await wait { ((try? reported().last?["anchor"].text) ?? nil) != (try? reported()[count]["anchor"].text) }
        second.signal(SIGTERM)
        _ = try second.wait()
        let lines = try reported()
        let retained = try #require(lines.first?["after"].text)
        #expect(lines.dropLast().allSatisfy { $0["after"].text == retained })
        #expect(lines.allSatisfy { $0["observer"].text == "pulse" })
        let changes = try folder.vitalgate("changes", "--after", retained)
        #expect(try changes.lines.map { try JSON($0)["value"].double } == [62, 63])
        #expect(!second.errors.split { !$0.isNumber }.contains("62"))
    }

    @Test func refusesInvalidArguments() throws {
        #expect(try folder.vitalgate("observe", "a b", "--", "true").status == 64)
        #expect(try folder.vitalgate("observe", "a").status == 64)
        #expect(try folder.vitalgate("observe", "a", "--socket", "s", "--", "true").status == 64)
        #expect(try folder.vitalgate("observe", "a", "--frequency", "often", "--", "true").status == 64)
        #expect(try folder.vitalgate("observe", "a", "--", "true", store: folder.path("no.db")).status == 66)
    }
}
