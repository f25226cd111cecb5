/// The names of hertz in the languages of phones, in lower case.
///
/// Source: `units/frequency-hertz` in the Unicode CLDR, all languages and lengths, as included in Babel 2.19.0.
enum HertzNames {
    static let all: Set<String> = [
        "a hertzoù", "baa hɛrtɩ", "de hertzi", "ertz", "gers", "gs", "haart", "heirts", "herc", "herca", "hercai",
        "hercas", "herce", "hercev", "herci", "hercio", "hercios", "herciu", "herco", "hercoj", "hercs", "hercu",
        "herców", "hercų", "hers", "herts", "hertsi", "hertsiä", "hertz", "hertz ag", "hertz-ita", "hertza",
        "hertzaj", "hertze", "hertzi", "hertzov", "hertzow", "hertzs", "hertzu", "hertzy", "hertzů", "het", "hezi",
        "hz", "hz ʻe", "hēti ʻe", "hɛrtɩ", "hẹtz", "na hertz", "ɩhɛrtɩ", "χερτζ", "герц", "герца", "герци", "герцы",
        "герців", "гц", "гэрц", "гэрца", "гэрцы", "херц", "херца", "հերց", "հց", "הרץ", "هرتز", "هرټز", "هرٽز",
        "گەرس", "ہرٹز", "हर्ज", "हर्ट्ज़", "हर्ट्झ", "হার্জ", "হাৰ্টজ", "ਹਰਟਜ਼", "હર્ટ્ઝ", "ହର୍ଜ୍", "ஹெர்ட்ஸ்",
        "ಹರ್ಟ್ಜ್", "ഹെർട്സ്", "හට්ස්", "හස්", "เฮิรตซ์", "ဟတ်ဇ်", "ႁႅတ်ႉ", "ჰერცი", "ჰც.", "ኸርትዝ", "ኸርዝ", "ហឺត",
        "ヘルツ", "赫兹", "赫茲", "ꭽꮵ", "헤르츠", "𑄦𑄢𑄴𑄎𑄴", "𞤸𞤪", "𞤸𞤫𞤪𞤼𞤭", "𞤸𞤫𞤪𞤼𞤵",
    ]
}
