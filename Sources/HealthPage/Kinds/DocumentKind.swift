import ClinicalModel
import HealthModel

/// A clinical document: who wrote it, and the text of its sections.
enum DocumentKind {
    static func html(_ sample: Sample, _ call: PageCall) -> HTML {
        guard let document = try? sample.body?.decoded(as: ClinicalDocument.self) else { return "" }
        let texts = call.texts
        let facts = KindPage.facts([
            (texts("document.patient"), document.patient), (texts("document.author"), document.author),
            (texts("document.custodian"), document.custodian),
        ])
        let invalid: HTML = document.valid ? "" : "<p class=\"note\">\(texts("document.notValid"))</p>"
        guard let bytes = try? sample.body?.content?.bytes() else {
            return "\(facts)\(invalid)<p>\(texts("document.noText"))</p>"
        }
        let narrative = DocumentNarrative(bytes)
        let sections: [HTML] = narrative.sections.filter { !$0.lines.isEmpty }.map { section in
            let lines: [HTML] = section.lines.map { "<li>\($0)</li>" }
            let title = section.title.isEmpty ? texts("document.section") : section.title
            return "<h2>\(title)</h2><ul class=\"narrative\">\(lines)</ul>"
        }
        let none: HTML = sections.isEmpty ? "<p>\(texts("document.noText"))</p>" : ""
        let cut: HTML = narrative.isCut ? "<p class=\"note\">\(texts("document.cut"))</p>" : ""
        return "\(facts)\(invalid)\(sections)\(none)\(cut)"
    }
}
