import HealthModel
import SampleStore

/// Asks for documents of health records, as HealthKit's `HKDocumentQuery`.
public struct DocumentQueryDescriptor: Sendable {
    /// What the documents meet.
    public var predicate: SamplePredicate
    /// Whether the latest comes first, else the earliest.
    public var newestFirst: Bool
    /// At most so many.
    public var limit: Int?
    /// Whether the documents themselves are read, up to 16 MiB each; else what is read of them.
    public var includesDocumentData: Bool

    /// A document.
    public struct Result: Sendable {
        /// The sample.
        public var sample: StoredSample
        /// What is read of it: title, patient, custodian, author.
        public var document: ClinicalDocument
        /// The document, octet for octet; `nil` where it was not asked for.
        public var documentData: [UInt8]?
        /// Whether what is stored of it cannot be read; then its title is empty. `vitalgate store check --deep` names it.
        public var isDamaged = false
    }

    /// Asks for documents.
    public init(
        predicate: SamplePredicate = .everything, newestFirst: Bool = false, limit: Int? = nil,
        includesDocumentData: Bool = false
    ) {
        (self.predicate, self.newestFirst, self.limit) = (predicate, newestFirst, limit)
        self.includesDocumentData = includesDocumentData
    }

    /// All of them at once.
    ///
    /// One that is damaged is among them, marked as such.
    ///
    /// - Throws: `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> [Result] {
        var found: [Result] = []
        for try await result in results(for: store) { found.append(result) }
        return found
    }

    /// One after the other, each unpacked when it is asked for. Where the task is cancelled the sequence throws `CancellationError`.
    public func results(for store: HealthStore) -> Documents {
        Documents(
            samples: SampleQueryDescriptor(
                predicate: .and([.types([.clinicalDocument]), predicate]), newestFirst: newestFirst, limit: limit
            ).results(for: store), includesData: includesDocumentData)
    }

    /// Documents, read as they are asked for.
    public struct Documents: AsyncSequence, Sendable {
        public typealias Element = Result
        let samples: SampleQueryDescriptor.Samples
        let includesData: Bool

        public func makeAsyncIterator() -> Iterator {
            Iterator(samples: samples.makeAsyncIterator(), includesData: includesData)
        }

        /// Walks once over the documents.
        public struct Iterator: AsyncIteratorProtocol {
            var samples: SampleQueryDescriptor.Samples.Iterator
            let includesData: Bool

            public mutating func next() async throws -> Result? {
                guard let stored = try await samples.next() else { return nil }
                do {
                    let (body, content) = try stored.sample.content(of: .document)
                    return Result(
                        sample: stored, document: try body.decoded(as: ClinicalDocument.self),
                        documentData: includesData ? try content.octets() : nil)
                } catch {
                    // It does not hide its neighbors.
                    let document = ClinicalDocument(
                        title: "", patient: "", custodian: "", author: "", valid: false,
                        reason: "what is stored of it cannot be read")
                    return Result(sample: stored, document: document, documentData: nil, isDamaged: true)
                }
            }
        }
    }
}
