/// The store's tables, as named steps that are only ever added to: a store of any earlier version is brought up by the steps it lacks.
/// Each is a file of its own.
enum Schema {
    /// "VGAT", SQLite's application id of a store of ours.
    static let applicationID: Int64 = 0x5647_4154
    static var version: Int64 { Int64(steps.count) }

    static let steps: [(name: String, sql: String)] = [
        ("samples", samples), ("devices", devices), ("repairs", repairs), ("duplicates", duplicates), ("judgements", judgements),
        ("persons", persons), ("far witnesses", farWitnesses), ("lengths", lengths), ("decisions", decisions), ("feed", feed),
        ("epochs", epochs), ("counter", counter), ("own keys", ownKeys), ("ordinals", ordinals), ("kinds", kinds),
        ("targets", targets), ("bodies", bodies), ("characteristics", characteristics),
        ("authorization", authorization), ("scale users", scaleUsers), ("page", page), ("medications", medications),
        ("saved answers", savedAnswers), ("summaries", summaries), ("lost changes", lostChanges),
        ("required types", requiredTypes),
        ("target marks", targetMarks), ("measurements", measurements), ("later objects", laterObjects), ("widenings", widenings),
        ("pending", pending),
    ]
}
