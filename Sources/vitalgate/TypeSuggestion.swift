import CommandLineKit
import HealthModel

/// Suggestions for unknown type names.
enum TypeSuggestion {
    /// The id of the type that the user probably meant.
    static func nearest(to text: String) -> String? {
        let word = SampleType.plain(text)
        guard !word.isEmpty else { return nil }
        let types = SampleType.all
        if let type = types.first(where: { SampleType.plain($0.id).hasPrefix(word) }) { return type.id }
        let ids = Dictionary(types.map { (SampleType.plain($0.id), $0.id) }, uniquingKeysWith: { first, _ in first })
        return Suggestion.nearest(to: word, among: types.map { SampleType.plain($0.id) }).flatMap { ids[$0] }
    }
}
