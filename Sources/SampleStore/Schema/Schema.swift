/// The store's tables as named steps. Steps are only ever added, and an older store is upgraded by the steps it lacks. Each step has its
/// own file.
enum Schema {
    /// "VGAT", the SQLite application id of a Vitalgate store.
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
