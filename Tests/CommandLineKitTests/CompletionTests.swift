import CommandLineKit
import Foundation
import Testing

struct BashCompletionTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let words: [String]
        let proposed: [String]
        /// The characters at which Bash splits words. A user may have removed some.
        var breaks = #" \t\n"'@><=;|&(:"#

        var testDescription: String { words.joined(separator: " ") }
    }

    static let globals = ["--store", "--config", "--profiles", "--help", "--version"]

    static let cases: [Case] = [
        Case(words: [""], proposed: ["import", "query", "store", "profile", "unit", "help"]),
        Case(words: ["st"], proposed: ["store"]),
        Case(words: ["store", ""], proposed: ["check", "backup"]),
        Case(words: ["--store", "x", "store", "c"], proposed: ["check"]),
        Case(words: ["--store", "=", "x", "store", "c"], proposed: ["check"]),
        Case(words: ["store", "check", ""], proposed: []),
        Case(words: ["help", ""], proposed: ["import", "query", "store", "profile", "unit", "help"]),
        Case(words: ["help", "store", "b"], proposed: ["backup"]),
        Case(words: ["help", "query", ""], proposed: []),
        Case(words: ["-"], proposed: globals),
        Case(words: ["store", "check", "-"], proposed: ["--read-only"] + globals),
        Case(words: ["store", "--r"], proposed: ["--read-only"]),
        Case(words: ["import", "--d"], proposed: ["--dry-run"]),
        Case(words: ["query", ""], proposed: ["all", "bodyMass", "heartRate"]),
        Case(words: ["query", "--from", "x", "h"], proposed: ["heartRate"]),
        Case(words: ["query", "all", ""], proposed: []),
        Case(words: ["query", "--from", ""], proposed: []),
        Case(words: ["query", "--format", ""], proposed: ["csv", "ndjson", "table"]),
        Case(words: ["query", "--format", "n"], proposed: ["ndjson"]),
        Case(words: ["query", "--format", "="], proposed: ["csv", "ndjson", "table"]),
        Case(words: ["query", "--format", "=", "n"], proposed: ["ndjson"]),
        Case(words: ["query", "--format=n"], proposed: ["--format=ndjson"], breaks: #" \t\n"#),
        Case(words: ["query", "--channel", "gatt", ":", "2A3"], proposed: ["2A37"]),
        Case(words: ["query", "--channel", "gatt:2A3"], proposed: ["gatt:2A37"], breaks: #" \t\n="#),
        Case(words: ["query", "--channel", "=", "gatt", ":", "2A3"], proposed: ["2A37"]),
        Case(words: ["unit", "convert", "-40", ""], proposed: [#"\[degF\]"#, "Cel", #"mm\[Hg\]"#]),
        Case(words: ["unit", "convert", "-40", #"\[d"#], proposed: [#"\[degF\]"#]),
        Case(words: ["unit", "convert", "-40", "'[d"], proposed: ["[degF]"]),
        Case(words: ["unit", "convert", "-40", "Cel", "i"], proposed: [#"it\'s"#]),
        Case(words: ["unit", "convert", "--", "-40", "C"], proposed: ["Cel"]),
        Case(words: ["import", "--", "--d"], proposed: []),
        Case(words: ["import", "--profile", "pul"], proposed: ["pulse-a", "pulse-b"]),
        Case(
            words: ["--config", "/c.json5", "profile", "show", ""],
            proposed: [
                "pulse-a", "pulse-b", #"\$\(touch\ evil\)"#, "profile", "list", "--ids", "--config", "/c.json5",
            ]),
        Case(words: ["--config", "$(evil)", "profile", "show", "p"], proposed: ["pulse-a", "pulse-b", "profile"]),
        Case(words: ["import", "rea"], proposed: ["reading one.csv", "readings"]),
        Case(words: ["import", "readings/"], proposed: ["readings/b.csv"]),
        Case(words: ["--store", "=", "rea"], proposed: ["reading one.csv", "readings"]),
        Case(words: ["--profiles", ""], proposed: ["readings"]),
        Case(words: ["store", "backup", "no-such"], proposed: []),
        Case(words: ["nonsense", ""], proposed: ["import", "query", "store", "profile", "unit", "help"]),
    ]

    @Test(arguments: cases)
    func proposes(_ expected: Case) throws {
        let bash = try complete(expected.words, breaks: expected.breaks)
        #expect(bash.status == 0)
        #expect(bash.errors == "")
        #expect(Set(bash.output.split(separator: "\n").map(String.init)) == Set(expected.proposed))
    }

    @Test func scriptIsRecorded() throws {
        try Snapshot.expect(Sample.program.bashCompletion(), matches: "vitalgate.bash")
    }

    @Test func programMayHaveAnotherName() throws {
        let script = Sample.program.bashCompletion(program: "vital-gate")
        #expect(script.contains("complete -F _vital_gate 'vital-gate'\n"))
        #expect(try Tool("bash", ["-n"], input: script).errors == "")
    }

    /// Completes as Bash does, in a directory with a few files and a program that prints profiles and its own arguments.
    private func complete(_ words: [String], breaks: String) throws -> Tool {
        let directory = try TemporaryDirectory()
        let files = directory.url.appendingPathComponent("files/readings")
        let programs = directory.url.appendingPathComponent("bin")
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        try Data().write(to: files.appendingPathComponent("b.csv"))
        try Data().write(to: directory.url.appendingPathComponent("files/reading one.csv"))
        // A file that this process has written may still be open in a child of another test, and is then "busy": Bash makes the program.
        let program = directory.url.appendingPathComponent("program")
        let lines = ["#!/bin/sh", #"printf '%s\n' pulse-a pulse-b '$(touch evil)' "$@""#, ""].joined(separator: "\n")
        try Data(lines.utf8).write(to: program)
        let script = directory.url.appendingPathComponent("completion")
        try Data(Sample.program.bashCompletion().utf8).write(to: script)
        let commands = #"""
            set -u
            cp "$1/program" "$1/bin/vitalgate"; chmod +x "$1/bin/vitalgate"
            cd "$1/files"; PATH=$1/bin:$PATH; source "$1/completion"; printf -v COMP_WORDBREAKS '%b' "$2"; shift 2
            COMP_WORDS=(vitalgate "$@"); COMP_CWORD=$#
            _vitalgate
            ((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
            [[ ! -e evil ]]
            """#
        return try Tool("bash", ["--norc", "--noprofile", "-c", commands, "bash", directory.url.path, breaks] + words)
    }
}
