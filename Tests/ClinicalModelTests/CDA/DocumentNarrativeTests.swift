import ClinicalModel
import Testing

/// The text of a document for people.
@Suite struct DocumentNarrativeTests {
    private func sections(_ body: String) -> DocumentNarrative {
        DocumentNarrative(
            Array("<ClinicalDocument xmlns=\"urn:hl7-org:v3\"><title>Not a section</title>\(body)</ClinicalDocument>".utf8))
    }

    @Test func sectionsHaveTheirTitlesAndLines() {
        let read = sections(
            """
            <component><section><title>Results</title><text>Before the list.
              <list><item>First <content>one</content></item><item>Second</item></list>
              <table><thead><tr><th>Test</th><th>Value</th></tr></thead><tbody><tr><td>A &lt; B</td><td>5.4</td></tr></tbody></table>
              <paragraph>Line<br/>break</paragraph></text>
              <entry><observation><text>Not for people</text></observation></entry>
              <component><section><title>Inner</title><text>Inside</text></section></component>
            </section></component>
            """)
        #expect(read.sections.map(\.title) == ["Results", "Inner"])
        #expect(
            read.sections.first?.lines == [
                "Before the list.", "First one", "Second", "Test · Value", "A < B · 5.4", "Line", "break",
            ])
        #expect(read.sections.last?.lines == ["Inside"])
        #expect(!read.isCut)
    }

    @Test func aLongTextIsCut() {
        let long = String(repeating: "<paragraph>\(String(repeating: "a", count: 10_000))</paragraph>", count: 60)
        let read = sections("<section><text>\(long)</text></section>")
        #expect(read.isCut && read.sections.first?.lines.count == 50)
    }

    @Test func invalidDocumentHasNoSections() {
        for text in ["", "not XML", "<a>", "<!DOCTYPE a [<!ENTITY b \"c\">]><section><text>&b;</text></section>"] {
            #expect(DocumentNarrative(Array(text.utf8)).sections.allSatisfy { $0.lines.isEmpty }, "\(text)")
        }
    }
}
