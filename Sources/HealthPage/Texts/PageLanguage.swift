import HealthModel

/// A language of the page, for texts outside of it.
///
///     PageFiles(folder: folder).language("de")?.name(of: .heartRate)  // "Herzfrequenz"
package struct PageLanguage: Sendable {
    private let texts: PageTexts

    fileprivate init(_ texts: PageTexts) { self.texts = texts }

    /// The text of a key, or `nil` if the language lacks it.
    package func text(_ key: String) -> String? { texts[key] }
    package func name(of type: SampleType) -> String { texts.name(of: type) }
    package func symbol(of unit: Unit) -> String { texts["unit." + unit.code] ?? unit.code }
    /// The separator before decimals.
    package var decimal: Character { Character(PageLocale.language.withValue(texts.language) { PageLocale.decimal }) }
}

extension PageFiles {
    /// A language by its code, such as `de`, or `nil` if the page lacks it.
    package func language(_ code: String) -> PageLanguage? { languages[code].map(PageLanguage.init) }
}
