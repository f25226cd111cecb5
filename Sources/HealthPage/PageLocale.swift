/// The separators of numbers in the language of the current request.
enum PageLocale {
    /// The language of the texts.
    @TaskLocal static var language = "en"

    /// The separator before decimals.
    static var decimal: String { language == "de" ? "," : "." }
    /// The separator between groups of three digits.
    static var group: String { language == "de" ? "." : "," }
}
