import Glibc
import SystemdKit

@testable import BlueZSource
@testable import SystemdKit

/// A dbus-daemon for this test. It ends with the test, even if the test is killed.
final class PrivateBus {
    let folder: String
    var address: String { "unix:path=\(folder)/bus" }
    private var process: pid_t = 0
    /// Closed by the kernel when this process ends, however it does.
    private var leash: Int32 = -1

    /// - Parameter policy: more elements of the default policy (dbus-daemon(1)).
    init(policy: String = "") throws {
        var template = Array("/tmp/vitalgate-bus-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BusError.system(-errno, "mkdtemp") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: Int8(truncatingIfNeeded: $0)) }, as: UTF8.self)
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>system</type><listen>unix:path=\(folder)/bus</listen><auth>EXTERNAL</auth>
            <policy context="default"><allow user="*"/><allow own="*"/><allow send_type="method_call"/>
            <allow send_type="signal"/><allow send_requested_reply="true" send_type="method_return"/>
            <allow send_requested_reply="true" send_type="error"/><allow receive_type="method_call"/><allow receive_type="signal"/>
            <allow receive_type="method_return"/><allow receive_type="error"/>\(policy)</policy></busconfig>
            """
        guard let file = fopen(folder + "/bus.conf", "w") else { throw BusError.system(-errno, "fopen") }
        fputs(configuration, file)
        fclose(file)
        try launch()
    }

    /// Starts the daemon, and returns when it listens.
    func launch() throws {
        unlink(folder + "/bus")
        var ends: [Int32] = [-1, -1]
        var leashes: [Int32] = [-1, -1]
        // Sockets can be created so that child processes do not inherit them. In Swift, pipes cannot.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0, socketpair(AF_UNIX, kind, 0, &leashes) == 0 else {
            throw BusError.system(-errno, "socketpair")
        }
        leash = leashes[1]
        defer { close(leashes[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, leashes[0], 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        // It complains of limits that only root may raise.
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        // The shell reads the leash to its end, and takes the daemon with it.
        let script = """
            exec 3<&0; dbus-daemon --config-file="$1/bus.conf" --nofork --print-address 3<&- & exec >/dev/null; cat <&3; kill -KILL $!; wait
            """
        let words = ["/bin/sh", "-c", script, "sh", folder]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        let result = posix_spawnp(&process, "/bin/sh", &actions, nil, arguments, environ)
        for argument in arguments { free(argument) }
        posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        defer { close(ends[0]) }
        guard result == 0 else { throw BusError.system(-result, "dbus-daemon") }
        var byte: UInt8 = 0
        guard read(ends[0], &byte, 1) == 1 else { throw BusError.system(-EIO, "dbus-daemon did not start") }
    }

    func kill() {
        guard process > 0 else { return }
        close(leash)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        process = 0
    }

    deinit {
        kill()
        unlink(folder + "/bus")
        unlink(folder + "/bus.conf")
        rmdir(folder)
    }
}
