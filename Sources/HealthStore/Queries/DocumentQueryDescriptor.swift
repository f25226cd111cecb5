import HealthModel
import SampleStore

/// A query for documents of health records, like HealthKit's `HKDocumentQuery`.
public struct DocumentQueryDescriptor: Sendable {
    /// The condition on the documents.
    public var predicate: SamplePredicate
    /// Whether to sort by start in descending order.
    public var newestFirst: Bool
    /// The maximum number of documents.
    public var limit: Int?
    /// Whether to return the documents' data, up to 16 MiB each. Without it, only the summary is returned.
    public var includesDocumentData: Bool

    /// A document.
    public struct Result: Sendable {
        /// The sample.
        public var sample: StoredSample
        /// The summary: title, patient, custodian, author.
        public var document: ClinicalDocument
        /// The document's original bytes, or `nil` if they were not requested.
        public var documentData: [UInt8]?
        /// Whether the stored document cannot be read. The title is then empty. `vitalgate store check --deep` names the document.
        public var isDamaged = false
    }

    /// Creates a query for documents.
    public init(
        predicate: SamplePredicate = .everything, newestFirst: Bool = false, limit: Int? = nil,
        includesDocumentData: Bool = false
    ) {
        (self.predicate, self.newestFirst, self.limit) = (predicate, newestFirst, limit)
        self.includesDocumentData = includesDocumentData
    }

    /// All matching documents.
    ///
    /// A damaged document is included and marked with `isDamaged`.
    ///
    /// - Throws: `StoreError`, `CancellationError`.
    public func result(for store: HealthStore) async throws -> [Result] {
        var found: [Result] = []
        for try await result in results(for: store) { found.append(result) }
        return found
    }

    /// The documents one by one, each unpacked on request. If the task is cancelled, the sequence throws `CancellationError`.
    public func results(for store: HealthStore) -> Documents {
        Documents(
            samples: SampleQueryDescriptor(
                predicate: .and([.types([.clinicalDocument]), predicate]), newestFirst: newestFirst, limit: limit
            ).results(for: store), includesData: includesDocumentData)
    }

    /// The sequence of documents, read on request.
    public struct Documents: AsyncSequence, Sendable {
        public typealias Element = Result
        let samples: SampleQueryDescriptor.Samples
        let includesData: Bool

        public func makeAsyncIterator() -> Iterator {
            Iterator(samples: samples.makeAsyncIterator(), includesData: includesData)
        }

        /// The iterator over the documents.
        public struct Iterator: AsyncIteratorProtocol {
            var samples: SampleQueryDescriptor.Samples.Iterator
            let includesData: Bool

            public mutating func next() async throws -> Result? {
                guard let stored = try await samples.next() else { return nil }
                do {
                    let (body, content) = try stored.sample.content(of: .document)
                    return Result(
                        sample: stored, document: try body.decoded(as: ClinicalDocument.self),
                        documentData: includesData ? try content.bytes() : nil)
                } catch {
                    // A damaged document must not make the whole query fail.
                    let document = ClinicalDocument(
                        title: "", patient: "", custodian: "", author: "", valid: false,
                        reason: "its stored content cannot be read")
                    return Result(sample: stored, document: document, documentData: nil, isDamaged: true)
                }
            }
        }
    }
}
