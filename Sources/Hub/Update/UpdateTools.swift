import Glibc
import Pipeline

/// The programs of the system that an update uses: apt-get, dpkg and systemctl.
///
/// They run in a process group of their own, so that Ctrl-C and the end of a terminal do not interrupt them.
package struct UpdateTools: Sendable {
    /// Words for env(1), such as a PATH.
    private let environment: [String]
    /// The name of the package, of its program, and of its service.
    static let package = "vitalgate"
    static let service = "vitalgate.service"

    package init(environment: [String] = []) { self.environment = environment }

    private static let short = 60
    private static let long = 1200

    /// Runs a program that must succeed, and returns its output.
    @discardableResult
    private func run(_ words: String..., seconds: Int = short) throws(UpdateFailure) -> String {
        let result = attempt(words, seconds: seconds)
        guard result.code == 0 else {
            // apt and dpkg first write their plan, and the reason at the end.
            let reason = Self.reason(in: result.words)
            throw UpdateFailure("\(words.prefix(2).joined(separator: " ")): \(reason.isEmpty ? "status \(result.code)" : reason)")
        }
        return result.output
    }

    func attempt(
        _ words: [String], seconds: Int, to file: Int32? = nil, from source: Int32? = nil
    ) -> (code: Int32, output: String, words: String) {
        ProgramRun.run(
            ["/usr/bin/env", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"] + environment + words, seconds: seconds,
            to: file, from: source)
    }

    /// The lines of errors of apt and dpkg, or else the last line.
    static func reason(in text: String) -> String {
        let lines = text.split(separator: "\n").map { TerminalLine.plain($0) }.filter { !$0.isEmpty }
        // dpkg ends the first line of an error with a colon.
        let errors = lines.indices.filter { lines[$0].hasPrefix("E: ") || lines[$0].hasPrefix("dpkg: error") }.map {
            lines[$0].hasSuffix(":") && lines.indices.contains($0 + 1) ? "\(lines[$0]) \(lines[$0 + 1])" : lines[$0]
        }
        return String((errors.isEmpty ? lines.suffix(1) : errors.prefix(2)).joined(separator: "; ").prefix(400))
    }

    // MARK: Packages

    /// The state of the package in dpkg's words, such as `installed`, and its version.
    func installed() -> (state: String, version: String) {
        let result = attempt(
            ["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Version}", Self.package], seconds: Self.short)
        let words = result.output.split(separator: " ").map(String.init)
        return result.code == 0 && words.count == 2 ? (words[0], words[1]) : ("not-installed", "")
    }

    /// Asks the repositories of apt. A list that cannot be trusted or fetched is an error.
    func refresh() throws(UpdateFailure) {
        try run("apt-get", "update", "-o", "APT::Update::Error-Mode=any", "-o", "DPkg::Lock::Timeout=120", seconds: 600)
    }

    /// The version that apt would install, if it is newer than the installed one.
    func available(after version: String) throws(UpdateFailure) -> String? {
        let policy = try run("apt-cache", "policy", Self.package)
        let prefix = "  Candidate: "
        guard let line = policy.split(separator: "\n").first(where: { $0.hasPrefix(prefix) }) else { return nil }
        let candidate = String(line.dropFirst(prefix.count))
        guard candidate != "(none)", candidate != version else { return nil }
        return attempt(["dpkg", "--compare-versions", candidate, "gt", version], seconds: Self.short).code == 0 ? candidate : nil
    }

    private func architecture() throws(UpdateFailure) -> String {
        String(try run("dpkg", "--print-architecture").prefix { !$0.isWhitespace })
    }

    /// Puts the package file of a version into a folder, from apt's cache or from the repository, unless it is there.
    ///
    /// - Returns: its path.
    func obtain(_ version: String, in folder: String) throws(UpdateFailure) -> String {
        let name = "\(Self.package)_\(version.replacing(":", with: "%3a"))_\(try architecture()).deb"
        let path = "\(folder)/\(name)"
        if isWhole(path, version) { return path }
        unlink(path)
        let cached = "/var/cache/apt/archives/\(name)"
        if isWhole(cached, version), attempt(["cp", cached, path], seconds: Self.long).code == 0, isWhole(path, version) {
            return path
        }
        unlink(path)
        // apt-get writes into the current folder.
        let result = attempt(
            ["env", "--chdir=\(folder)", "apt-get", "--quiet", "download", "\(Self.package)=\(version)"], seconds: Self.long)
        guard result.code == 0, isWhole(path, version) else {
            unlink(path)
            throw UpdateFailure("\(name) cannot be downloaded: \(Self.reason(in: result.words))")
        }
        return path
    }

    /// Whether a file is the whole package of a version. dpkg-deb compares the length of the contents.
    private func isWhole(_ path: String, _ version: String) -> Bool {
        guard access(path, R_OK) == 0 else { return false }
        let field = attempt(["dpkg-deb", "--field", path, "Version"], seconds: Self.short)
        guard field.code == 0, field.output == version + "\n" else { return false }
        return attempt(["dpkg-deb", "--contents", path], seconds: Self.long).code == 0
    }

    /// The size of a package's installed files in bytes.
    func installedSize(_ path: String) throws(UpdateFailure) -> Int {
        (Int(try run("dpkg-deb", "--field", path, "Installed-Size").prefix(while: \.isNumber)) ?? 0) << 10
    }

    /// Installs the file of a newer version. Settings that a person has changed stay.
    func install(_ path: String) throws(UpdateFailure) {
        try run(
            "apt-get", "install", "--quiet", "--yes", "-o", "DPkg::Lock::Timeout=120", "-o", "Dpkg::Use-Pty=0", "-o",
            "Dpkg::Options::=--force-confdef",
            "-o", "Dpkg::Options::=--force-confold", path, seconds: Self.long)
    }

    /// Installs the file of an older version, without a network, and whatever state the newer one is in.
    func installOlder(_ path: String) throws(UpdateFailure) {
        let words = ["dpkg", "--install", "--force-downgrade", "--force-confdef", "--force-confold"]
        // Another program may have the lock for a moment.
        for _ in 0..<3 {
            if attempt(words + [path], seconds: Self.long).code == 0 { return }
            sleep(1)
        }
        // Scripts of the newer version that fail must not stop it.
        let result = attempt(words + ["--force-remove-reinstreq", "--force-depends", path], seconds: Self.long)
        guard result.code == 0 else { throw UpdateFailure("dpkg --install: \(Self.reason(in: result.words))") }
    }

    // MARK: The service

    /// The state of the service in systemd's words, such as `active`, and how often it was started again by itself.
    func service() -> (state: String, restarts: Int) {
        let result = attempt(["systemctl", "show", "--property=ActiveState,NRestarts", Self.service], seconds: Self.short)
        var values: [Substring: Substring] = [:]
        for line in result.output.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { values[parts[0]] = parts[1] }
        }
        return (String(values["ActiveState"] ?? "unknown"), values["NRestarts"].flatMap { Int($0) } ?? 0)
    }

    func stopService() throws(UpdateFailure) { try run("systemctl", "stop", Self.service, seconds: 120) }

    func startService() throws(UpdateFailure) { try run("systemctl", "start", Self.service, seconds: 120) }

    /// The last line that the service wrote as an error, or an empty text.
    func lastError() -> String {
        let result = attempt(
            ["journalctl", "--unit=\(Self.service)", "--priority=err", "--lines=1", "--output=cat", "--quiet"],
            seconds: Self.short)
        return result.code == 0 ? Self.reason(in: result.output) : ""
    }

    /// Writes a line to the system's log.
    func log(_ text: String, isWarning: Bool) {
        _ = attempt(
            ["logger", "--tag", "vitalgate-update", "--priority", isWarning ? "daemon.warning" : "daemon.info", "--", text],
            seconds: Self.short)
    }
}

/// Text of other programs for a line of the log.
private enum TerminalLine {
    static func plain(_ text: Substring) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
            .trimmed
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
