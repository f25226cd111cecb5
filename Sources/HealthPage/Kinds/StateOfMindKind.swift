import HealthModel

/// A state of mind: whether it is of a moment or of a day, the feelings, and the related topics.
enum StateOfMindKind {
    static func html(_ sample: Sample, _ call: PageCall) -> HTML {
        guard let state = try? sample.body?.decoded(as: StateOfMind.self) else { return "" }
        let texts = call.texts
        func names(_ values: [String], _ list: PageTexts.ValueList) -> String {
            values.map { texts.name(of: $0, in: list) }.joined(separator: ", ")
        }
        return KindPage.facts([
            (texts("mind.kind"), names([state.kind], .moodKind)), (texts("mind.feelings"), names(state.labels, .mood)),
            (texts("mind.topics"), names(state.associations, .topic)),
        ])
    }
}
