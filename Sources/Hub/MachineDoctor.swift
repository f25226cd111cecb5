import EventLoopKit
import Glibc
import HealthModel
import Ingestion
import Pipeline
import SampleStore

/// Checks the machine on which a hub runs: the room on the store's disk and its wear, the clock, and the age of the package.
package struct MachineDoctor {
    /// The part of the system that is read.
    struct System {
        /// The root of the file system that contains `sys` and `var`.
        var root = ""
        /// Whether the kernel considers its clock synchronized.
        var isSynchronized = ClockSteps.isSynchronised
        var room: (String) -> DiskRoom? = { DiskRoom(of: $0) }
        /// Runs a program, and returns its output if it succeeds.
        var run: ([String]) -> String? = { words in
            let run = ProgramRun.run(words, seconds: 20)
            return run.code == 0 ? run.output : nil
        }
    }

    private let store: String
    private let now: Instant
    private let system: System

    /// Checks the machine of a hub.
    ///
    /// - Parameters:
    ///   - store: The path of the store.
    ///   - now: The machine's time.
    package init(store: String, now: Instant) { self.init(store: store, now: now, system: System()) }

    init(store: String, now: Instant, system: System) { (self.store, self.now, self.system) = (store, now, system) }

    /// The findings. A machine without any problem has none.
    package func examine() -> [Finding] { room() + wear() + clock() + package() }

    /// The folder of the store. `nil` if it does not exist yet.
    private var folder: String? {
        let folder = SmallFile.folder(of: store)
        return access(folder, F_OK) == 0 ? folder : nil
    }

    private func room() -> [Finding] {
        guard let folder, let room = system.room(folder), room.spare < 0 else { return [] }
        return [
            Finding(
                .warning, "disk",
                "the disk of the store is nearly full: readings of devices are stored as long as possible, and uploads are refused",
                command: "df -h \(folder)")
        ]
    }

    // MARK: Wear

    /// The share of its life that a built-in eMMC has used, as the device estimates it. SD cards do not report it.
    ///
    /// Linux shows the fields of the extended CSD register (JEDEC JESD84-B51): `life_time` has two estimates in steps of 10 %, from 0x01 to 0x0B
    /// (exceeded), and `pre_eol_info` is 0x02 if 80 % of the reserved blocks are used, and 0x03 if 90 % are.
    private func wear() -> [Finding] {
        guard let device else { return [] }
        let life = numbers(of: "\(device)/life_time").max() ?? 0
        let reserved = numbers(of: "\(device)/pre_eol_info").max() ?? 0
        guard life >= 0x09 || reserved >= 0x02 else { return [] }
        let share =
            life >= 0x0B
            ? "more than its estimated life"
            : life >= 0x09 ? "\((life - 1) * 10) % of its estimated life" : "most of its reserved blocks"
        return [
            Finding(
                .warning, "disk", "the eMMC of the store has used \(share): back up the store, and replace the device soon",
                command: "vitalgate store backup /media/disk/vitalgate.db")
        ]
    }

    /// The folder of the device below `/sys`: that of the disk, or of the disk that contains the partition.
    private var device: String? {
        guard let number = folder.flatMap(Self.deviceNumber) else { return nil }
        let block = "\(system.root)/sys/dev/block/\(number)"
        return ["\(block)/device", "\(block)/../device"].first { access("\($0)/life_time", R_OK) == 0 }
    }

    /// The number of the disk that contains a file, as `sys/dev/block` names it (makedev(3)).
    static func deviceNumber(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let device = UInt64(status.st_dev)
        let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
        let minor = device & 0xFF | device >> 12 & 0xFFFF_FF00
        return "\(major):\(minor)"
    }

    private func numbers(of path: String) -> [Int] {
        guard let bytes = SmallFile.read(path, limit: 64) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split { $0.isWhitespace }.compactMap { Int($0.dropFirst(2), radix: 16) }
    }

    // MARK: Clock and package

    private func clock() -> [Finding] {
        // A clock that cannot be right is another finding.
        guard PlausibleClock.allows(now), !system.isSynchronized else { return [] }
        return [
            Finding(
                .warning, "clock", "the machine's clock is not synchronized, so the times of readings may be wrong",
                command: "timedatectl")
        ]
    }

    private func package() -> [Finding] {
        guard access("\(system.root)/var/lib/dpkg/info/vitalgate.list", F_OK) == 0,
            let policy = system.run(["/usr/bin/env", "LC_ALL=C", "apt-cache", "policy", "vitalgate"])
        else { return [] }
        func version(_ name: String) -> String? {
            policy.split(separator: "\n").lazy.map { $0.split(separator: " ") }.first { $0.first == "\(name):" }?.last.map(
                String.init)
        }
        guard let own = version("Installed"), let other = version("Candidate"), own != other, own != "(none)", other != "(none)"
        else {
            return []
        }
        return [
            Finding(
                .warning, "package", "version \(own) is installed, and the repository has version \(other)",
                command: "sudo apt-get install vitalgate")
        ]
    }
}
