import ExportEngine
import HealthPage
import Hub

extension AlertWords {
    /// The words in the language of the configuration's `locale`. English if the page has no texts in it.
    static func configured(_ context: CommandContext) throws -> AlertWords {
        guard let code = try context.configuration().language, code != "en",
            let folder = PageFolder.find(executable: ProfileFolders.executable()),
            let language = try PageFiles(folder: folder).language(code)
        else { return .english }
        let phrases = Phrase.allCases.compactMap { phrase in
            language.text("alerts.message." + phrase.rawValue).map { (phrase, $0) }
        }
        return AlertWords(
            phrases: Dictionary(uniqueKeysWithValues: phrases), decimal: language.decimal, names: { language.name(of: $0) },
            symbols: { language.symbol(of: $0) })
    }
}
