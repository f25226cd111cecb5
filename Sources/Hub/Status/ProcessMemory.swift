import Glibc
import Ingestion
import Pipeline

/// The resident memory of a part of the hub.
package struct ProcessMemory: Hashable, Sendable {
    package enum Process: String, Sendable {
        case hub
        /// The server of the API, the page and the metrics.
        case api
        /// The other processes of the hub together: targets, alerts, imports.
        case others
    }

    package var process: Process
    /// The size in bytes.
    package var bytes: Int

    /// Returns the memory of this process, which serves the API, and of the hub with its other processes.
    ///
    /// - Parameter hub: The process id of the hub, or `nil` if none runs.
    package static func all(ofHub hub: Int32?) -> [ProcessMemory] {
        let own = getpid()
        var all = [resident(own).map { ProcessMemory(process: .api, bytes: $0) }].compactMap { $0 }
        guard let hub, let bytes = resident(hub) else { return all }
        all.insert(ProcessMemory(process: .hub, bytes: bytes), at: 0)
        let others = descendants(of: hub).filter { $0 != own }.compactMap(resident)
        all.append(ProcessMemory(process: .others, bytes: others.reduce(0, +)))
        return all
    }

    /// The resident size of a process, or `nil` if it has ended. proc(5): the second field of `statm` is a number of pages.
    private static func resident(_ process: Int32) -> Int? {
        guard let text = SmallFile.read("/proc/\(process)/statm", limit: 4096) else { return nil }
        let fields = String(decoding: text, as: UTF8.self).split(separator: " ")
        return fields.count > 1 ? Int(fields[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }

    /// The children of a process and theirs. The kernel lists the children of each thread (proc(5), `children`).
    private static func descendants(of process: Int32) -> [Int32] {
        var found: [Int32] = []
        var rest = [process]
        while let next = rest.popLast(), found.count < maximumProcesses {
            for thread in Folder.names("/proc/\(next)/task") ?? [] {
                guard let text = SmallFile.read("/proc/\(next)/task/\(thread)/children", limit: 65_536) else { continue }
                let children = String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
                found += children
                rest += children
            }
        }
        return found
    }

    private static let maximumProcesses = 1000
}
