import HealthModel
import Pipeline
import SampleStore

/// Decides whether what is found at a target is what its cursor is about.
///
/// The cursor says that the target has everything up to a place. That is so only for the very target that was filled, and only while it has not been put
/// back to an earlier state, while this store has not, and while no copy of this store feeds it.
struct TargetMeeting {
    /// What comes of it.
    enum Verdict: Equatable {
        /// It goes on, with what was learned of the target.
        case proceed(Target)
        /// A person has to act.
        case stop(String)
    }

    let settings: TargetSettings
    /// What a person can do.
    let mend: String
    /// Whether this store has made an anchor.
    let hasMade: (Anchor) throws -> Bool

    /// - Parameter address: by which a target is known that stores no mark.
    func verdict(_ known: Target, _ found: FoundMark?, address: String) throws -> Verdict {
        var target = known
        guard let found else {
            if let identity = known.identity, identity != Self.identity(of: address) {
                return .stop("it is at another address than the one that was filled: \(mend)")
            }
            target.identity = Self.identity(of: address)
            return .proceed(target)
        }
        if let words = claimWords(found.mark?.holder) { return .stop(words) }
        guard let identity = known.identity else {
            // The store may be a copy from before the first delivery. Told everything anew, that is meant.
            if !known.isRewriting, let mark = found.mark, let words = try neverMade(mark) { return .stop(words) }
            target.identity = found.identity
            target.count = found.mark?.count ?? 0
            return .proceed(target)
        }
        guard let there = found.identity, there == identity else {
            if found.mayForget, found.mark == nil, found.identity == nil { return .proceed(target) }
            return .stop("it is not the target that was filled, but another one under the same name: \(mend)")
        }
        guard let mark = found.mark else {
            return found.mayForget || known.count == 0
                ? .proceed(target) : .stop("it has forgotten what was delivered, as one that was put back from a copy: \(mend)")
        }
        guard mark.count >= known.count else {
            return .stop("it was put back from a copy that is older than the last delivery: \(mend)")
        }
        if mark.count > known.count, let words = try neverMade(mark) { return .stop(words) }
        target.count = mark.count
        return .proceed(target)
    }

    /// The words for a mark of changes that this store never made; `nil` where it made them.
    private func neverMade(_ mark: TargetMark) throws -> String? {
        guard let anchor = Anchor(mark.anchor), try !hasMade(anchor) else { return nil }
        return
            "it has changes that this store never made, as where the store was put back from a copy, or a copy of it feeds the target, too: \(mend)"
    }

    /// Why another holder's claim stops us; `nil` where it does not.
    func claimWords(_ holder: StoreHolder?) -> String? {
        guard let holder, !holder.id.isEmpty, !settings.holder.id.isEmpty, holder.id != settings.holder.id, !settings.takesOver
        else {
            return nil
        }
        return
            "the same store feeds it from \(holder.name), and this is \(settings.holder.name): where one is a copy, 'vitalgate store adopt' gives this one an "
            + "identity of its own; where it has moved, 'vitalgate store adopt --moved' says so"
    }

    /// Of a target that stores no mark: a digest of its address, in which no name of a server is read.
    static func identity(of address: String) -> String {
        "address-" + Digest.sha256(Array(address.utf8)).prefix(12).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
