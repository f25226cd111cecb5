import HealthModel

/// Recognizes the hub's own samples that phones have written and that come back in a phone's posts and exports.
///
/// A reading has come back if it comes from a phone's store and was offered to the phone. It is recognized by
///
/// - the key of the record (`clientRecordId`, `HKMetadataKeySyncIdentifier`), or else
/// - the app that wrote it and an equal type, time and value. The app must be one that the phone has named, or must not be known if the phone
///   itself sends the reading. Times are equal if they are the same to a millisecond, or if one is the whole second of the other. Values are
///   equal if the hub's rounds to the other in the unit and to the last digit that the phone sends. All versions that were offered count,
///   since an export can be older than a correction. Refused ones do not.
///
/// Another value, another time, and another app make another reading. A statistic of a period is never recognized.
public final class ReturnedReadings {
    private let store: SampleStore
    private var connection: Connection { store.connection }
    private let phones: [Phone]
    /// Blood pressures that were recognized. Their correlation follows.
    private var parts: Set<String> = []

    private struct Phone {
        var client: Int64
        /// The names of the apps in lowercase letters.
        var apps: Set<String>
        /// Whether the phone itself sends the readings.
        var isSender: Bool
    }

    /// The app of phones that have named none.
    private static let defaultApps = ["Shortcuts"]
    private static let millisecond: Int64 = 1000
    private static let second: Int64 = 1_000_000
    /// The relative precision of a number of 32 bits, in which some apps store values.
    private static let precision = 1e-6
    private static let maximumParts = 10_000

    fileprivate init(_ store: SampleStore, of clients: [Int64], sender: Int64?) throws(StoreError) {
        self.store = store
        var phones: [Phone] = []
        for client in clients {
            guard let phone = try store.connection.writeBack.phone(client) else { continue }
            let names = phone.sources.isEmpty ? Self.defaultApps : phone.sources
            phones.append(Phone(client: client, apps: Set(names.map { $0.lowercased() }), isSender: client == sender))
        }
        self.phones = phones
    }

    /// Whether a sample is one that the hub gave to a phone.
    public func contains(_ sample: Sample) throws -> Bool {
        guard let app = PhoneStore.app(ofSource: sample.origin.source.id) else { return false }
        if sample.origin.type.kind == .correlation { return try isOfReturned(sample) }
        guard sample.body == nil, sample.metadata?["statistic"] == nil else { return false }
        let apps = app.lowercased().split(separator: "|").map(String.init)
        for phone in phones {
            let isWriter = apps.isEmpty ? phone.isSender : apps.allSatisfy(phone.apps.contains)
            guard try hasKey(sample, phone) || (isWriter && isEqual(sample, phone)) else { continue }
            if sample.group != nil {
                if parts.count >= Self.maximumParts { parts.removeAll() }
                parts.insert(sample.identity.description)
            }
            return true
        }
        return false
    }

    private func hasKey(_ sample: Sample, _ phone: Phone) throws(StoreError) -> Bool {
        guard let record = sample.record, record.id.hasPrefix(WriteBackWriter.mark) else { return false }
        return try connection.writeBack.wasOffered(phone.client, record.whole ?? record.id, person: sample.origin.person)
    }

    /// Whether all parts of a correlation were recognized.
    private func isOfReturned(_ correlation: Sample) throws -> Bool {
        guard !parts.isEmpty, let references = try correlation.body?.object(of: .correlation)?.references, !references.isEmpty
        else {
            return false
        }
        return references.allSatisfy(parts.contains)
    }

    private func isEqual(_ sample: Sample, _ phone: Phone) throws -> Bool {
        let start = sample.start.microseconds
        for series in try connection.series.ids(of: sample.origin.type, sample.origin.person) {
            let keys = try connection.writeBack.offered(
                phone.client, series, from: start - Self.second, through: start + Self.second)
            for key in keys {
                guard let offered = try connection.anySample(at: key) else { continue }
                guard Self.isEqual(sample.start, offered.start), Self.hasEqualEnd(sample, offered) else { continue }
                if try Self.hasEqualValue(sample, offered) { return true }
            }
        }
        return false
    }

    private static func isEqual(_ time: Instant, _ offered: Instant) -> Bool {
        let (time, offered) = (time.microseconds, offered.microseconds)
        if abs(time - offered) <= millisecond { return true }
        let whole = offered.flooredQuotientAndRemainder(dividingBy: second).quotient * second
        return time == whole
    }

    /// Some apps send only the start.
    private static func hasEqualEnd(_ sample: Sample, _ offered: Sample) -> Bool {
        sample.end == sample.start || isEqual(sample.end, offered.end)
    }

    private static func hasEqualValue(_ sample: Sample, _ offered: Sample) throws(UnitError) -> Bool {
        let type = sample.origin.type
        guard type.kind == .quantity else { return sample.value == offered.value }
        let conversion = try sample.unit.conversion(to: type.canonicalUnit, molarMass: type.molarMass)
        let step = abs(conversion(sample.numeral.step) - conversion(0))
        return abs(sample.value - offered.value) <= step * (0.5 + precision) + abs(offered.value) * precision
    }
}

extension SampleStore.WriteBack {
    /// Recognizes the samples that phones have written, or returns `nil` without phones. This store must not be used by another thread while it does.
    ///
    /// - Parameter sender: The client that sends the readings, which alone can have written them, or `nil` for a file.
    public func returned(by sender: Client?) throws(StoreError) -> ReturnedReadings? {
        let phones = try connection.writeBack.phones().filter { sender == nil || $0 == sender?.id }
        return phones.isEmpty ? nil : try ReturnedReadings(store, of: phones, sender: sender?.id)
    }
}
