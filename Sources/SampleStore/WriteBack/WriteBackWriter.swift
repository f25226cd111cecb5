import HealthModel

/// Decides which records a phone must have, from changes of samples.
///
/// A record belongs to a key. It is written while one of the samples with the key is live and belongs into the phone's store, and deleted
/// when none is. This is computed from the rows of the key and the samples as they are now, so the order of the changes does not matter.
struct WriteBackWriter {
    private let connection: Connection
    private let phone: WriteBackPhone
    private let now: Instant
    private let reader: MeasurementReader
    /// The last version of a record.
    private(set) var version: Int64

    /// The beginning of the keys, by which the hub's own records are recognized.
    static let mark = "vitalgate-"

    init(_ connection: Connection, _ phone: WriteBackPhone, version: Int64, _ now: Instant) {
        (self.connection, self.phone, self.version, self.now) = (connection, phone, version, now)
        reader = MeasurementReader(connection: connection)
    }

    private var table: WriteBackTable { connection.writeBack }
    private var client: Int64 { phone.client.id }

    /// A clock that is set back does not let versions fall.
    private mutating func nextVersion() -> Int64 {
        version = max(version + 1, now.microseconds)
        return version
    }

    /// Brings the records of a changed sample up to date.
    mutating func apply(_ change: SampleChange) throws(StoreError) {
        let sample = change.sample
        guard sample.origin.person == phone.person, let series = try connection.series.id(of: sample.origin) else { return }
        let key = SampleKey(series: series, start: sample.start.microseconds, of: sample.identity)
        if let first = phone.store.first(of: sample.origin.type) {
            for lead in try leads(of: sample, key, first) { try update(lead) }
            return
        }
        if case .deleted(let deletion) = change, let successor = deletion.replacedBy { try inherit(key, by: successor) }
        try update(key)
    }

    /// The samples of the first value that belong to a sample of the second value, now or as it was written.
    private func leads(of second: Sample, _ key: SampleKey, _ type: SampleType) throws(StoreError) -> Set<SampleKey> {
        var leads: Set<SampleKey> = []
        if let row = try table.row(client, at: key) {
            for row in try table.rows(client, of: row.key) where !row.isPart { leads.insert(row.sample) }
        }
        for key in try parts(of: second, type) { leads.insert(key) }
        return leads
    }

    /// The live samples of another type in the same measurement.
    private func parts(of sample: Sample, _ type: SampleType) throws(StoreError) -> [SampleKey] {
        let origin = sample.origin
        guard let group = sample.group,
            let series = try connection.series.id(
                type: type.id, person: origin.person, source: origin.source.id, device: origin.device?.key ?? "")
        else { return [] }
        let start = sample.start.microseconds
        let rows = try connection.samples.scan(
            .key, of: series, from: start, through: start, .group(group), isRetained: false)
        var keys: [SampleKey] = []
        while try rows.next() { keys.append(try rows.key) }
        return keys
    }

    /// The samples of the record that a sample is written as, or `nil` if it is not written.
    private func members(_ key: SampleKey) throws(StoreError) -> [SampleKey]? {
        guard let sample = try connection.samples.stored(at: key)?.sample, sample.origin.person == phone.person,
            let record = phone.store.record(of: sample.origin.type), !record.mustLast || sample.end > sample.start,
            // A phone would take a sum or an average for a reading.
            sample.metadata?["statistic"] == nil, sample.body == nil, try !isOnPhone(sample, key)
        else { return nil }
        guard let second = record.second else { return [key] }
        guard let part = try parts(of: sample, second).first else { return nil }
        return [key, part]
    }

    /// Whether the phone has the measurement already: it comes from a phone's store, also by another path, or from this client.
    private func isOnPhone(_ sample: Sample, _ key: SampleKey) throws(StoreError) -> Bool {
        let source = sample.origin.source.id
        if PhoneStore.contains(source: source) || source == phone.client.source { return true }
        guard try !reader.isPlain(key.series) else { return false }
        for report in try reader.measurement(of: key).keys {
            if let source = try connection.series.source(of: report.series), PhoneStore.contains(source: source) { return true }
        }
        return false
    }

    /// Lets the sample that replaces another have its key, so that the phone changes the record.
    private func inherit(_ key: SampleKey, by successor: String) throws(StoreError) {
        guard let row = try table.row(client, at: key), let replacement = try live(successor, like: key), replacement != key
        else { return }
        if let own = try table.row(client, at: replacement) {
            // A record that the phone may have keeps its key.
            let rows = try table.rows(client, of: own.key)
            guard own.key != row.key, rows.allSatisfy({ $0.offered == 0 }), rows.count(where: { !$0.isPart }) == 1 else { return }
            try table.remove(client, own.key)
        }
        try table.save(.init(sample: replacement, key: row.key), of: client)
    }

    /// The live sample at the end of a chain of repairs, of the same person and type.
    private func live(_ uuid: String, like key: SampleKey) throws(StoreError) -> SampleKey? {
        var (next, left) = (SampleIdentity(uuid), 100)
        while let uuid = next, left > 0 {
            (next, left) = (nil, left - 1)
            for found in try connection.samples.keys(of: uuid) {
                if try connection.samples.contains(found) {
                    guard let sample = try connection.samples.stored(at: found)?.sample, sample.origin.person == phone.person,
                        try connection.series.type(of: key.series) == sample.origin.type
                    else { return nil }
                    return found
                }
                next = try connection.samples.tombstone(at: found)?.replacedBy.flatMap { SampleIdentity($0) }
            }
        }
        return nil
    }

    /// Brings the record of a sample up to date. A sample that is written gets one if it has none.
    private mutating func update(_ sample: SampleKey) throws(StoreError) {
        if let row = try table.row(client, at: sample) { return try update(row.key) }
        guard try members(sample) != nil else { return }
        try addRecord(of: sample)
    }

    /// Adds a sample to the record of its reading. The key is that of the reading as it was stored first, so that a store that was restored
    /// from a backup finds the same key, whether or not the reading is repaired again.
    private mutating func addRecord(of sample: SampleKey) throws(StoreError) {
        let root = try connection.repairs.root(of: sample)
        // A reading that was assigned has another person's UUID.
        let isOwn = try connection.series.person(of: root.series) == phone.person
        var known = isOwn ? try connection.samples.identity(at: root) : nil
        if known == nil { known = try connection.samples.identity(at: sample) }
        guard let uuid = known else { return }
        var (key, number) = ("\(Self.mark)\(uuid)", 1)
        while try isLive(key) {
            number += 1
            key = "\(Self.mark)\(uuid)-\(number)"
        }
        try table.save(.init(sample: sample, key: key), of: client)
        try update(key)
    }

    /// Whether a sample with this key is written.
    private func isLive(_ key: String) throws(StoreError) -> Bool {
        for row in try table.rows(client, of: key) where !row.isPart { if try members(row.sample) != nil { return true } }
        return false
    }

    /// Brings a record up to date: it has the live sample and its parts, or is deleted without one.
    private mutating func update(_ key: String) throws(StoreError) {
        let rows = try table.rows(client, of: key)
        let current = rows.filter { !$0.isSuperseded }
        var live: [(row: WriteBackTable.Row, members: [SampleKey])] = []
        for row in rows.filter({ !$0.isPart }).sorted(by: { !$0.isSuperseded && $1.isSuperseded }) {
            if let members = try members(row.sample) { live.append((row, members)) }
        }
        guard let first = live.first else { return try delete(key, rows) }
        if Set(current.map(\.sample)) != Set(first.members) || current.contains(where: \.isDeletion) {
            let version = nextVersion()
            for var row in current where !first.members.contains(row.sample) {
                row.isSuperseded = true
                try table.save(row, of: client)
            }
            for sample in first.members {
                var row = WriteBackTable.Row(sample: sample, key: key)
                (row.version, row.isPart, row.isSuperseded) = (version, sample != first.row.sample, false)
                try table.save(row, of: client)
            }
        }
        // Two live samples never share a record.
        for other in live.dropFirst() where !first.members.contains(other.row.sample) { try addRecord(of: other.row.sample) }
    }

    private mutating func delete(_ key: String, _ rows: [WriteBackTable.Row]) throws(StoreError) {
        // An offered record may be on the phone, whether or not it was acknowledged.
        guard rows.contains(where: { $0.offered > 0 }) else { return try table.remove(client, key) }
        let current = rows.filter { !$0.isSuperseded }
        guard !current.isEmpty, !current.contains(where: \.isDeletion) else { return }
        let version = nextVersion()
        for var row in current {
            (row.isDeletion, row.version) = (true, version)
            try table.save(row, of: client)
        }
    }
}
