import CommandLineKit
import Foundation
import Testing

/// The completions of Bash, zsh and fish, each in the real shell. Vitalgate is replaced by a program that prints recorded answers.
struct CompletionTests {
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
    func bashProposes(_ expected: Case) throws {
        let folder = try CompletionFolder(words: Self.joined(expected.words))
        let commands = #"""
            set -u
            cd "$1/files"; PATH=$1/bin:$PATH; source "$1/vitalgate.bash"; printf -v COMP_WORDBREAKS '%b' "$2"; shift 2
            COMP_WORDS=(vitalgate "$@"); COMP_CWORD=$#
            _vitalgate
            ((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
            [[ ! -e evil ]]
            """#
        let bash = try Tool(
            "bash", ["--norc", "--noprofile", "-c", commands, "bash", folder.path, expected.breaks] + expected.words)
        #expect(bash.status == 0)
        #expect(bash.errors == "")
        #expect(Set(bash.output.split(separator: "\n").map(String.init)) == Set(expected.proposed))
        #expect(try folder.asked == Self.joined(expected.words))
    }

    /// The words as the program gets them. Bash splits at = and :.
    private static func joined(_ words: [String]) -> [String] {
        var joined: [String] = []
        var isGlued = false
        for word in words {
            let isBreak = !word.isEmpty && word.allSatisfy { "=:".contains($0) }
            if isBreak || isGlued, let last = joined.popLast() { joined.append(last + word) } else { joined.append(word) }
            isGlued = isBreak
        }
        if let last = joined.popLast() {
            joined.append(
                last.first.map { "\"'".contains($0) } ?? false ? String(last.dropFirst()) : last.replacing("\\", with: ""))
        }
        return joined
    }

    @Test(arguments: [
        (["st"], ["store"]), (["store", "ba"], ["backup"]), (["query", "--format", "n"], ["ndjson"]),
        (["query", "--format=n"], ["--format=ndjson"]), (["store", "--re"], ["--read-only"]),
        (["import", "--profile", "pul"], ["pulse-a", "pulse-b"]), (["import", "rea"], ["reading one.csv", "readings/"]),
        (["--profiles", "rea"], ["readings/"]), (["--store=rea"], ["--store=reading one.csv", "--store=readings/"]),
    ])
    func fishProposes(_ words: [String], _ proposed: [String]) throws {
        let folder = try CompletionFolder(words: words)
        let fish = try Tool(
            "fish",
            [
                "--no-config", "-c",
                #"cd $argv[1]/files; set PATH $argv[1]/bin $PATH; source $argv[1]/vitalgate.fish; complete -C $argv[2]"#,
                folder.path, "vitalgate " + words.joined(separator: " "),
            ])
        let texts = fish.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        #expect(texts.map { $0.replacing("\\ ", with: " ") }.sorted() == proposed)
        #expect(fish.errors == "")
        #expect(try folder.asked == words)
    }

    @Test(arguments: [
        (["st"], "store "), (["store", "ba"], "store backup "), (["query", "--format", "n"], "query --format ndjson "),
        (["query", "--format=n"], "query --format=ndjson "), (["store", "--re"], "store --read-only "),
        (["import", "reading\\ o"], "import reading one.csv "), (["--profiles", "rea"], "--profiles readings"),
        (["unit", "convert", "1", "\\[d"], "unit convert 1 [degF] "),
    ])
    func zshCompletes(_ words: [String], _ completed: String) throws {
        let folder = try CompletionFolder(words: words.map { $0.replacing("\\", with: "") })
        // A tab and a line break, typed on a terminal of its own.
        let commands = #"""
            zmodload zsh/zpty; cd $1/files; export PATH=$1/bin:$PATH PS1=; fpath=($1/zsh $fpath)
            zpty shell 'zsh -f -i'
            zpty -w shell "fpath=($1/zsh \$fpath); autoload -U compinit; compinit -u -D; PS1=; unsetopt list_ambiguous list_beep; print ready"
            while zpty -r shell line; do [[ $line == ready* ]] && break; done
            zpty -n -w shell "vitalgate $2"$'\t\n'
            while [[ ! -e $1/ran ]]; do zpty -r -t shell line || sleep 0.02; done
            zpty -d shell
            """#
        let zsh = try Tool("zsh", ["-f", "-c", commands, "zsh", folder.path, words.joined(separator: " ")])
        #expect(zsh.errors == "")
        #expect(try folder.text("ran") == completed.trimmingCharacters(in: .whitespaces))
        #expect(try folder.asked == words.map { $0.replacing("\\", with: "") })
    }

    @Test func programMayHaveAnotherName() throws {
        let script = CompletionScript.bash.text(program: "vital-gate")
        #expect(script.contains("complete -F _vital_gate 'vital-gate'\n"))
        #expect(try Tool("bash", ["-n"], input: script).errors == "")
    }

    @Test func candidatesHaveASentence() {
        let answer = Sample.program.completion(of: ["store", "b"])
        #expect(
            answer
                == .words([
                    .init("check", help: "Check the store."), .init("backup", help: "Copy the store while it is in use."),
                ]))
    }
}

/// A folder with a few files, the scripts, and a program that prints the answer to some words and records the words that it was asked for.
private struct CompletionFolder {
    private let directory: TemporaryDirectory
    var path: String { directory.url.path }

    init(words: [String]) throws {
        directory = try TemporaryDirectory()
        for folder in ["files/readings", "bin", "zsh"] {
            try FileManager.default.createDirectory(
                at: directory.url.appendingPathComponent(folder), withIntermediateDirectories: true)
        }
        func write(_ text: String, _ name: String) throws {
            try Data(text.utf8).write(to: directory.url.appendingPathComponent(name))
        }
        try write("", "files/readings/b.csv")
        try write("", "files/reading one.csv")
        for script in CompletionScript.allCases {
            try write(script.text(program: "vitalgate"), script == .zsh ? "zsh/_vitalgate" : "vitalgate.\(script.rawValue)")
        }
        let answer = Sample.program.completion(of: words)
        var lines = [answer.heading]
        switch answer {
        case .words(let candidates): lines += candidates.map { "\($0.text)\t\($0.help)" }
        case .output(let arguments, let prefix):
            lines += (["pulse-a", "pulse-b", "$(touch evil)"] + arguments).map { prefix + $0 }
        case .files, .folders: break
        }
        try write(lines.map { $0 + "\n" }.joined(), "answer")
        let program = """
            #!/bin/sh
            if [ "$1" != complete ]; then printf '%s\\n' "$*" >'\(path)/new'; exec mv '\(path)/new' '\(path)/ran'; fi
            shift 2
            printf '%s\\n' "$@" >'\(path)/asked'
            exec cat '\(path)/answer'

            """
        try write(program, "program")
        // A file that this process has written may still be open in a child of another test, and is then "busy": a shell makes the program.
        _ = try Tool("sh", ["-c", #"cp "$0/program" "$0/bin/vitalgate" && chmod +x "$0/bin/vitalgate""#, path])
    }

    /// The words for which the program was asked.
    var asked: [String] { get throws { try text("asked").components(separatedBy: "\n") } }

    /// The text of a file without its last line break.
    func text(_ name: String) throws -> String {
        String(try String(contentsOf: directory.url.appendingPathComponent(name), encoding: .utf8).dropLast())
    }
}
