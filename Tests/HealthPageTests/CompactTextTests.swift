import Testing

@testable import HealthPage

/// What of the style and the scripts is served.
@Suite struct CompactTextTests {
    private func compact(_ text: String, _ name: String) -> String {
        String(decoding: CompactText.bytes(Array(text.utf8), of: name), as: UTF8.self)
    }

    @Test func aStyleHasNoCommentsAndSpaces() {
        let style = """
            /* A note; with "quotes". */
            .a > .b :is(p, a)::before { content: "\\25A0 , "; margin: 0 calc(1px + 2px); }
            @media (min-width: 40rem) {
                .a { color: red; }
            }

            """
        #expect(
            compact(style, "page.css")
                == ".a>.b :is(p,a)::before{content:\"\\25A0 , \";margin:0 calc(1px + 2px)}@media (min-width:40rem){.a{color:red}}"
        )
    }

    @Test func aScriptKeepsItsStringsAndLines() {
        let script = """
            // A note.
            const text = `a  b ${one + two} // c`; // Another one.
            /** A third
                one. */
            let sum = one - -two
            return sum + " = // "

            """
        #expect(
            compact(script, "page.js")
                == "const text=`a  b ${one + two} // c`;let sum=one- -two\nreturn sum+\" = // \"")
    }

    @Test func otherFilesStayAsTheyAre() { #expect(compact("a  // b", "icon.svg") == "a  // b") }
}
