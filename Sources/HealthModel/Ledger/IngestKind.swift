/// What an entry of the ledger did; its raw value is what the ledger keeps and shows.
public enum IngestKind: String, Hashable, Sendable {
    /// Readings of a file.
    case `import`
    /// Readings of one day, as the hub heard them.
    case live
    /// Samples of one day that a program saved through the library.
    case save
    /// A person deleted samples.
    case delete
    /// A person brought deleted samples back.
    case restore
    /// What another entry did was taken back.
    case undo
    /// A person judged held readings right.
    case accept
    /// A person judged held readings wrong.
    case reject
    /// What ended before its type's earliest permitted date was removed for good.
    case prune
    /// Everything about a person was removed for good.
    case erase
    /// Held readings became samples, since a clock, the device's or our own, is known now.
    case release
    /// Samples that tell a reading again, in another unit, became witnesses of the first.
    case merge
    /// Samples were repaired.
    case migrate
    /// A repair was taken back.
    case undoMigration = "migrate undo"
}
