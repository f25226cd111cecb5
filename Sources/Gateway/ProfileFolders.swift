import Glibc
import Pipeline
import Profiles

/// Finds and loads the device profiles of this machine.
public struct ProfileFolders: Sendable {
    /// Where profiles are looked for; the later folder's profile counts where two have one id.
    public let folders: [String]
    /// Those of them that the configuration or an option names.
    private let named: [String]

    /// - Parameter executable: the program's own path: beside a checkout's build lies the checkout's `DeviceProfiles`.
    public init(configuration: Configuration, executable: String) {
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

    /// The program's own path.
    public static func executable() -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard length > 0 else { return "" }
        return String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Loads all profiles; one that is broken is left out and told, so that it does not stop the others' files.
    ///
    /// - Parameter keepsVectors: a hub that runs for years has no use for what proves its profiles, a good part of their memory.
    public func load(keepsVectors: Bool = true) -> (library: ProfileLibrary, problems: [ProfileProblem]) {
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

    /// Refuses a folder that somebody named and that is not there; those that are built in may be missing.
    ///
    /// - Throws: ``SourceError``.
    public func checkNamed() throws(SourceError) {
        for folder in named {
            guard let stream = opendir(folder) else {
                throw SourceError(.noInput, "\(folder): profiles cannot be read from there: \(String(cString: strerror(errno)))")
            }
            closedir(stream)
        }
    }
}
