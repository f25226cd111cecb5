import HealthModel
import Pipeline

/// Finds the origin of readings: once if the profile determines it, otherwise once for each combination of cells.
final class OriginFinder {
    private let registry: OriginRegistry
    private let type: SampleType?
    private let typeCell: Int
    private let source: SourceRule
    private let device: DeviceRule?
    private let binding: HeaderBinding
    private let personCell: Int
    let cells: [Int]
    private let constant: Origin?
    let memo = ByteMemo<Origin>()
    private let scratch = CellScratch()
    private var seen: Set<ObjectIdentifier> = []
    /// More than any household or study writes into one file. Without this limit, a column that counts up would make a series of each row.
    private static let maximumOrigins = 10_000

    init(_ rule: ReadingRule, channel: TableChannel, binding: HeaderBinding, registry: OriginRegistry) {
        self.registry = registry
        self.binding = binding
        source = channel.source
        device = channel.device
        switch rule.type {
        case .fixed(let type): (self.type, typeCell) = (type, -1)
        case .cell(let column): (type, typeCell) = (nil, binding.cells[column])
        }
        personCell = channel.personID.map { binding.cells[$0] } ?? -1
        let named = (channel.source.columns + (channel.device?.columns ?? [])).map { binding.cells[$0] }
        cells = ([typeCell, personCell] + named).filter { $0 >= 0 }
        guard cells.isEmpty, let type else {
            constant = nil
            return
        }
        func text(_ rule: TextRule?) -> String? { if case .constant(let text)? = rule { text } else { nil } }
        let revision = SourceRevision(
            id: channel.source.id, name: text(channel.source.name) ?? channel.source.id, version: text(channel.source.version))
        let device = channel.device.flatMap {
            Self.device(name: text($0.name), manufacturer: text($0.manufacturer), model: text($0.model), serial: text($0.serial))
        }
        constant = registry.origin(type: type, source: revision, device: device)
    }

    deinit {
        memo.deallocate()
        scratch.deallocate()
    }

    @inline(__always) func origin(_ row: Cells) throws(BoundTable.Failure) -> Origin {
        if let constant { return constant }
        guard let key = scratch.key(row, cells) else { throw .init("a cell that names type, source or device is too long") }
        if let origin = memo.find(key) { return origin }
        let origin = try newOrigin(row)
        memo.store(origin, for: key)
        return origin
    }

    private func newOrigin(_ row: Cells) throws(BoundTable.Failure) -> Origin {
        func text(_ rule: TextRule?) -> String? {
            switch rule {
            case nil: return nil
            case .constant(let text): return text
            case .cells(let columns, let map):
                let cells = columns.lazy.filter { self.binding.has($0) }.map { trimmed(row[self.binding.cells[$0]]) }
                guard let cell = cells.first(where: { !$0.isEmpty }) else { return nil }
                // Names become parts of keys and of exported lines, which cannot contain control characters.
                let text = String(decoding: cell.lazy.map { $0 < 0x20 ? 0x20 : $0 }, as: UTF8.self)
                return map.map { $0[text] } ?? text
            }
        }
        var type = self.type
        if typeCell >= 0 {
            let cell = trimmed(row[typeCell])
            guard !cell.isEmpty else { throw .init("the type is empty") }
            guard cell.count <= 128, let found = try? SampleType(anyName: String(decoding: cell, as: UTF8.self)) else {
                throw .init("the type is not in the catalogue")
            }
            type = found
        }
        guard let type else { throw .init("the type is empty") }
        let name = text(source.name)
        // A file that names its sources itself has as many sources as names.
        let id = source.name.columns.isEmpty ? source.id : name.map { source.id + "." + $0 } ?? source.id
        let revision = SourceRevision(id: id, name: name ?? source.id, version: text(source.version))
        let device = self.device.flatMap {
            Self.device(name: text($0.name), manufacturer: text($0.manufacturer), model: text($0.model), serial: text($0.serial))
        }
        let origin = registry.origin(type: type, source: revision, device: device, person: try person(row))
        guard seen.count < Self.maximumOrigins || seen.contains(ObjectIdentifier(origin)) else {
            throw .init("the file names more than \(Self.maximumOrigins) sources, devices and people")
        }
        seen.insert(ObjectIdentifier(origin))
        return origin
    }

    private func person(_ row: Cells) throws(BoundTable.Failure) -> String? {
        guard personCell >= 0 else { return nil }
        let cell = trimmed(row[personCell])
        if cell.isEmpty { return nil }
        if isOne(cell, of: [Array("me".utf8)]) { return registry.person }
        let text = String(decoding: cell.prefix(64), as: UTF8.self).lowercased()
        if text == Origin.unassigned { return text }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.count) == [8, 4, 4, 4, 12], text.allSatisfy({ $0 == "-" || $0.isHexDigit }) else {
            throw .init("the subject is neither a UUID nor me nor unassigned")
        }
        return text
    }

    /// Returns the device that the file names, or nil. Its key uses the most durable name available.
    private static func device(name: String?, manufacturer: String?, model: String?, serial: String?) -> Device? {
        let key = [manufacturer, model ?? (serial == nil ? name : nil), serial].compactMap { $0 }.joined(separator: "/")
        guard name != nil || model != nil || serial != nil else { return nil }
        return Device(key: key, name: name, manufacturer: manufacturer, model: model, serial: serial)
    }
}
