import CommandLineKit
import HealthModel
import SampleStore

extension CommandContext {
    /// Checks that a text is a UUID or its first digits.
    func checkUUID(_ text: String, of name: String = "UUID") throws {
        guard SampleIdentity(text) == nil, IdentityPrefix(text) == nil else { return }
        throw invocation.invalid(
            name, value: text,
            expected:
                "a sample's UUID, as 'query --format ndjson' prints it, or at least its first \(IdentityPrefix.shortest) digits")
    }

    /// The maximum number of candidates in the error for an ambiguous UUID.
    private static let maximumCandidates = 8

    /// The UUID of a sample, which may be given by its first digits.
    ///
    /// - Parameters:
    ///   - name: The argument in messages.
    ///   - scope: The samples that are meant. A whole UUID is returned without a search.
    func uuid(_ text: String, of name: String = "UUID", among scope: SampleStore.Samples.PrefixScope, in store: SampleStore)
        throws
        -> SampleIdentity
    {
        if let uuid = SampleIdentity(text) { return uuid }
        try checkUUID(text, of: name)
        guard let prefix = IdentityPrefix(text) else { throw StoreError(.invalid, "\(text) is not a UUID") }
        let found = try store.samples.uuids(beginningWith: prefix, among: scope, limit: Self.maximumCandidates)
        if found.uuids.count == 1, !found.isCut { return found.uuids[0] }
        guard !found.uuids.isEmpty || found.isCut else {
            let which = scope == .deleted ? "deleted sample" : "sample"
            throw StoreError(.invalid, "no \(which) has a UUID that begins with \(text)")
        }
        let candidates = found.uuids.map(\.description).joined(separator: ", ")
        throw invocation.invalid(
            name, value: text,
            expected: "more digits, because several samples begin with these: \(candidates)\(found.isCut ? ", …" : "")")
    }
}
