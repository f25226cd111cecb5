import Glibc
import Pipeline
import Profiles

/// Finds and loads the device profiles of this machine.
package struct ProfileFolders: Sendable {
    /// The folders of profiles. If two profiles have the same id, the later folder's is used.
    package let folders: [String]
    /// The folders named in the configuration or by an option.
    private let named: [String]

    /// - Parameter executable: the program's own path. A checkout's `DeviceProfiles` is near its build.
    package init(configuration: Configuration, executable: String) {
        var folders: [String] = []
        // /repository/.build/release/vitalgate: the checkout is a few folders up.
        var folder = executable
        for _ in 0..<5 {
            guard let slash = folder.lastIndex(of: "/"), slash != folder.startIndex else { break }
            folder = String(folder[..<slash])
            let candidate = folder + "/DeviceProfiles"
            if access(candidate, F_OK) == 0 {
                folders.append(candidate)
                break
            }
        }
        folders += ["/usr/share/vitalgate", "/etc/vitalgate/profiles.d"]
        self.folders = folders + configuration.profiles
        named = configuration.profiles
    }

    /// Returns the program's own path.
    package static func executable() -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard length > 0 else { return "" }
        return String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Loads all profiles. A broken one is skipped and reported, so that the others still work.
    ///
    /// - Parameter keepsVectors: whether to keep the test vectors of profiles. They use much memory, and a running hub does not
    ///   need them.
    package func load(keepsVectors: Bool = true) -> (library: ProfileLibrary, problems: [ProfileProblem]) {
        var profiles: [Profile] = []
        var problems: [ProfileProblem] = []
        for folder in folders {
            for file in ProfileLibrary.files(in: folder) {
                do throws(ProfileErrors) {
                    var profile = try ProfileLibrary.check(file: file)
                    if !keepsVectors { (profile.vectors, profile.frameVectors) = ([], []) }
                    profiles.append(profile)
                } catch {
                    problems += error.problems
                }
            }
        }
        return (ProfileLibrary(profiles, folders: folders), problems)
    }

    /// Throws an error if a folder named by the user does not exist. Built-in folders may be missing.
    ///
    /// - Throws: ``SourceError``.
    package func checkNamed() throws(SourceError) {
        for folder in named {
            guard Folder.names(folder, maximum: 1) == nil else { continue }
            throw SourceError(.noInput, "\(folder): cannot read profiles: \(String(cString: strerror(errno)))")
        }
    }
}
