import Glibc
import Pipeline

/// The profiles on this machine.
///
///     let library = try ProfileLibrary.load(directories: ["/usr/share/vitalgate", "/etc/vitalgate/profiles.d"])
///     let match = try library.match(firstLines: head.text)
package struct ProfileLibrary: Sendable {
    /// The profiles, sorted by id.
    package let profiles: [Profile]
    package let folders: [String]

    package init(_ profiles: [Profile], folders: [String] = []) {
        self.folders = folders
        var byID: [String: Profile] = [:]
        for profile in profiles { byID[profile.id] = profile }
        self.profiles = byID.values.sorted { $0.id < $1.id }
    }

    /// Reads every `*.json5` file in the directories. If two profiles have the same id, the one in the later directory counts. A missing
    /// directory contains no profiles.
    ///
    /// - Throws: ``ProfileErrors`` with the problems of all files.
    package static func load(directories: [String]) throws(ProfileErrors) -> ProfileLibrary {
        var profiles: [Profile] = []
        var problems: [ProfileProblem] = []
        for directory in directories {
            for path in files(in: directory) {
                do throws(ProfileErrors) {
                    profiles.append(try check(file: path))
                } catch {
                    problems += error.problems
                }
            }
        }
        guard problems.isEmpty else { throw ProfileErrors(problems) }
        return ProfileLibrary(profiles, folders: directories)
    }

    /// Returns the profile files of a directory, sorted by name.
    package static func files(in directory: String) -> [String] {
        let names = (Folder.names(directory) ?? []).filter { $0.hasSuffix(".json5") && !$0.hasPrefix(".") }
        return names.sorted().map { directory + "/" + $0 }
    }

    /// Reads one profile, as `profile check FILE` does.
    ///
    /// - Throws: ``ProfileErrors`` with every problem and its key.
    package static func check(file path: String) throws(ProfileErrors) -> Profile {
        let profile = try Profile(json5: read(path), file: path)
        let name = path.split(separator: "/").last.map(String.init) ?? path
        guard name == profile.id + ".json5" else {
            throw ProfileErrors([ProfileProblem("id", "the file must have the name of its id, \(profile.id).json5", file: path)])
        }
        return profile
    }

    /// Reads a regular file, up to one byte more than a profile may have. Other files are refused, because a pipe may block and a device
    /// may never end.
    private static func read(_ path: String) throws(ProfileErrors) -> [UInt8] {
        func problem(_ message: String) -> ProfileErrors { ProfileErrors([ProfileProblem("", message, file: path)]) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw problem("cannot be read") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw problem("is not a regular file") }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= Profile.maximumLength {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            guard count >= 0 else { throw problem("cannot be read") }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// Returns the profile with this id, or nil.
    package subscript(id: String) -> Profile? { profiles.first { $0.id == id } }
}
