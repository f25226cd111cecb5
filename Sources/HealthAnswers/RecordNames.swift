import FoundationEssentials
import HealthModel
import SampleStore

/// Follows the references of health records to other records: the drug of a prescription, its reason, the performer of a test.
///
///     let names = RecordNames(store)
///     try names.named(stored)              // a prescription with the name of its drug
///     try names.references(of: sample)     // each reference with its name and the record
///
/// The records are found by their ids when a name is requested, so the order of imports does not matter. A reference is followed to a
/// record of the same person and source. A resource without a source counts if it came with the same import or if all with its id have
/// the same name.
package final class RecordNames {
    /// The records to look among.
    package enum Records: Sendable {
        /// The records of the type `referencedRecord`.
        case referenced
        case all
    }

    private struct Entry {
        var identity: SampleIdentity
        var name: String
        var person: String
        var source: String
        var ingest: Int64
    }

    private let store: SampleStore
    private let records: Records
    /// By `Type/id` and by address. Read when the first name is requested.
    private var entries: [String: [Entry]]?

    /// - Parameter records: The records to look among.
    package init(_ store: SampleStore, of records: Records = .referenced) { (self.store, self.records) = (store, records) }

    private static let medication = SampleType("medicationRecord")
    private static let unknownSource = "fhir"

    /// The sample with the name of its drug, if only another record has it. Any other sample is returned unchanged.
    package func named(_ stored: StoredSample) throws -> StoredSample {
        guard stored.sample.origin.type == Self.medication, let body = stored.sample.body,
            var record = try? body.decoded(as: ClinicalRecord.self), record.displayName == record.resourceType,
            let reference = record.references?.first(where: { $0.element == "medicationReference" }),
            let found = try target(of: reference, in: stored.sample, ingest: stored.ingest)
        else { return stored }
        record.displayName = found.name
        var named = stored
        named.sample.body = try SampleBody(encoding: record, content: body.content)
        return named
    }

    /// The references of a record, each with the name of the resource and the record in the store.
    package func references(
        of sample: Sample
    ) throws -> [(reference: ClinicalReference, name: String?, uuid: SampleIdentity?)] {
        guard sample.origin.kind == .clinicalRecord, let record = try? sample.body?.decoded(as: ClinicalRecord.self) else {
            return []
        }
        let ingest = try store.samples.sample(sample.identity)?.ingest
        return try (record.references ?? []).map { reference in
            let found = try target(of: reference, in: sample, ingest: ingest)
            return (reference, reference.display ?? found?.name, found?.identity)
        }
    }

    private func target(of reference: ClinicalReference, in sample: Sample, ingest: Int64?) throws -> Entry? {
        guard let address = reference.reference, !address.hasPrefix("#") else { return nil }
        let all = try loaded()
        let parts = Self.withoutVersion(address).split(separator: "/", omittingEmptySubsequences: false)
        let isURL = address.hasPrefix("http://") || address.hasPrefix("https://")
        let byAddress = all[Self.withoutVersion(address), default: []].filter { $0.person == sample.origin.person }
        guard !address.hasPrefix("urn:"), parts.count >= 2 else { return Self.only(byAddress) }
        let byID = all[parts.suffix(2).joined(separator: "/"), default: []].filter { $0.person == sample.origin.person }
        // The server of a URL is the source of its records.
        let source = isURL ? "fhir/" + parts.dropLast(2).joined(separator: "/") : sample.origin.source.id
        if isURL, let found = Self.only(byAddress) { return found }
        let same = byID.filter { $0.source == source }
        if !same.isEmpty { return Self.only(same) }
        let unknown = byID.filter { $0.source == Self.unknownSource && !isURL }
        return Self.only(unknown.filter { $0.ingest == ingest }) ?? Self.only(unknown)
    }

    /// The entry, or one of several with the same name. `nil` if there are none or several names.
    private static func only(_ entries: [Entry]) -> Entry? { Set(entries.map(\.name)).count == 1 ? entries.last : nil }

    private static func withoutVersion(_ address: String) -> String {
        address.firstRange(of: "/_history/").map { String(address[..<$0.lowerBound]) } ?? address
    }

    private func loaded() throws -> [String: [Entry]] {
        if let entries { return entries }
        var entries: [String: [Entry]] = [:]
        let types = SampleType.all.filter {
            $0.kind == .clinicalRecord && (records == .all || $0.id == "referencedRecord")
        }
        let cursor = try store.samples.cursor(matching: SampleQuery(types: Set(types)))
        defer { cursor.close() }
        while let stored = try cursor.next() {
            let sample = stored.sample
            guard let record = try? sample.body?.decoded(as: ClinicalRecord.self), record.displayName != record.resourceType
            else {
                continue
            }
            let entry = Entry(
                identity: sample.identity, name: record.displayName, person: sample.origin.person,
                source: sample.origin.source.id, ingest: stored.ingest)
            entries["\(record.resourceType)/\(record.identifier)", default: []].append(entry)
            if let address = record.sourceURL { entries[address, default: []].append(entry) }
        }
        self.entries = entries
        return entries
    }
}
