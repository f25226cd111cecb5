import HealthModel
import Pipeline
import SampleStore

/// Decides whether the target that was found is the one that the cursor describes.
///
/// The cursor means that the target has every change up to a position. That is true only if:
/// - it is the same target that was filled,
/// - the target was not restored to an earlier state,
/// - this store was not restored to an earlier state,
/// - no copy of this store feeds the target.
struct TargetCheck {
    enum Verdict: Equatable {
        /// Go on with this updated target.
        case proceed(Target)
        /// The target is away, with the reason. Look again later.
        case wait(String)
        /// Stop until a user acts, with the reason.
        case stop(String)
        /// The store or the target was restored from a backup. Stop until they are compared.
        case restored(String)
    }

    let settings: TargetSettings
    /// The advice for the user.
    let mend: String
    /// Whether this store has created an anchor.
    let hasMade: (Anchor) throws -> Bool
    /// The time, or `nil` while the machine's clock is not set. Such a clock ends no claim and dates none.
    let now: Instant?

    /// How long a holder's claim is valid after its last mark. A machine that is gone for good does not block its successor.
    static let lease = Duration.seconds(30 * 86_400)
    /// How often a holder writes its mark when there is nothing to deliver.
    static let renewal = Duration.seconds(86_400)

    /// - Parameter address: identifies a target that stores no mark.
    func verdict(_ known: Target, _ found: FoundMark?, address: String) throws -> Verdict {
        var target = known
        guard let found else {
            if isByAddress(known), known.identity != Self.identity(of: address) {
                return .stop("its address differs from that of the target that was filled: \(mend)")
            }
            target.identity = Self.identity(of: address)
            return .proceed(target)
        }
        if let words = claimWords(found.mark) { return .stop(words) }
        guard let identity = known.identity else {
            // The store may be a copy from before the first delivery. If everything is rewritten, that is intended.
            if !known.isRewriting, let mark = found.mark, let words = try neverMade(mark) { return restored(mark, words) }
            target.identity = found.identity
            target.count = found.mark?.count ?? 0
            return .proceed(target)
        }
        if isByAddress(known) {
            guard identity == Self.identity(of: address) else {
                return .stop("its address differs from that of the target that was filled: \(mend)")
            }
            // A mark from an earlier time is older than deliveries that left none.
            if let mark = found.mark, let words = try neverMade(mark) { return .stop(words) }
            target.identity = found.identity ?? identity
            target.count = found.mark?.count ?? known.count
            return .proceed(target)
        }
        guard let there = found.identity, there == identity else {
            if found.mayForget, found.mark == nil, found.identity == nil { return .proceed(target) }
            if let absence = found.absence, found.mark == nil, found.identity == nil { return .wait(absence) }
            return .stop("it is not the target that was filled, but another one with the same name: \(mend)")
        }
        guard let mark = found.mark else {
            return found.mayForget || known.count == 0
                ? .proceed(target)
                : .restored(
                    "it no longer contains the delivered changes, for example because it was restored from a backup: \(mend)")
        }
        guard mark.count >= known.count else {
            return .restored("it was restored from a backup that is older than the last delivery: \(mend)")
        }
        if mark.count > known.count, let words = try neverMade(mark) { return restored(mark, words) }
        target.count = mark.count
        return .proceed(target)
    }

    /// The verdict on a mark that this store has written at another time. If it is not known which machine has written it, it can be
    /// that of a copy.
    private func restored(_ mark: TargetMark, _ words: String) -> Verdict {
        isOwn(mark) ? .restored(words) : .stop(words)
    }

    /// Whether it is known that this machine has written a mark, or that it takes the store over from the one that has.
    func isOwn(_ mark: TargetMark) -> Bool {
        settings.takesOver || (!mark.holder.id.isEmpty && mark.holder.id == settings.holder.id)
    }

    /// Returns the reason to stop if the mark was written for changes that this store never made, or `nil` if it made them.
    private func neverMade(_ mark: TargetMark) throws -> String? {
        guard let anchor = Anchor(mark.anchor), try !hasMade(anchor) else { return nil }
        return
            "it has changes that this store never made, because the store was restored from a backup, or a copy of the store also sends to the target: \(mend)"
    }

    /// Returns the reason to stop because of another holder's claim, or `nil` if there is no valid claim, such as after its
    /// lease.
    func claimWords(_ mark: TargetMark?) -> String? {
        guard let mark, !mark.holder.id.isEmpty, !settings.holder.id.isEmpty, mark.holder.id != settings.holder.id,
            !settings.takesOver, !hasExpired(mark)
        else {
            return nil
        }
        let holder = mark.holder
        return
            "the same store sends to it from \(holder.name), and this is \(settings.holder.name): if one is a copy, run 'vitalgate store adopt' to give this one an "
            + "identity of its own. If the store was moved, run 'vitalgate store adopt --moved'"
    }

    private func hasExpired(_ mark: TargetMark) -> Bool {
        guard let now, let time = mark.time else { return false }
        return Self.lease < Self.duration(from: time, to: now)
    }

    /// Whether this store has to write its mark before it goes on: the mark is missing, belongs to another holder, or is a day
    /// old.
    func needsClaim(_ mark: TargetMark?) -> Bool {
        guard let mark else { return true }
        guard !settings.holder.id.isEmpty else { return false }
        guard mark.holder == settings.holder else { return true }
        // A claim without a time does not expire, so an old time is removed while the clock is not set.
        guard let now else { return mark.time != nil }
        return mark.time.map { Self.renewal < Self.duration(from: $0, to: now) } ?? true
    }

    static func duration(from start: Instant, to end: Instant) -> Duration {
        .microseconds(end.microseconds &- start.microseconds)
    }

    private static let addressPrefix = "address-"

    /// Whether the target kept no mark when it was last met.
    func isByAddress(_ target: Target) -> Bool { target.identity?.hasPrefix(Self.addressPrefix) == true }

    /// The identity of a target that stores no mark: a digest of its address, which does not reveal the server's name.
    static func identity(of address: String) -> String {
        addressPrefix
            + Digest.sha256(Array(address.utf8)).prefix(12).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
