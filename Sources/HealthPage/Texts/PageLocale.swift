/// The separators of numbers in the language of the current request.
enum PageLocale {
    static let language = TaskLocal<String>(wrappedValue: "en")

    /// The separator before decimals.
    static var decimal: String { language.get() == "de" ? "," : "." }
    /// The separator between groups of three digits.
    static var group: String { language.get() == "de" ? "." : "," }
}
