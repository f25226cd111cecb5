import Testing

@testable import Hub

/// A target in the text of a configuration: what is added is removed, and the rest stays byte for byte.
@Suite struct TargetTextTests {
    private static let object = #"{ kind: "files", folder: "/a" }"#
    private static let member = "new-one: "

    private static func added(_ text: String) throws -> String {
        String(decoding: try TargetText.adding("new-one", object, to: Array(text.utf8)), as: UTF8.self)
    }

    private static func removed(_ text: String, _ name: String = "new-one") throws -> String? {
        try TargetText.removing(name, from: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("", "{\n    targets: {\n        \"new-one\": OBJECT,\n    },\n}\n"),
        ("{}", "{\n    targets: {\n        \"new-one\": OBJECT,\n    },\n}"),
        ("{}\n", "{\n    targets: {\n        \"new-one\": OBJECT,\n    },\n}\n"),
        // The package's file, which ends in comments.
        (
            "// mine\n{\n  hub: {}, // a\n  // targets: {},\n}\n",
            "// mine\n{\n  hub: {}, // a\n  // targets: {},\n  targets: {\n      \"new-one\": OBJECT,\n  },\n}\n"
        ),
        (
            "{\n    hub: {} // a\n}", "{\n    hub: {}, // a\n    targets: {\n        \"new-one\": OBJECT,\n    },\n}"
        ),
        (
            "{ store: '/s', targets: { a: { kind: 'files' } } }",
            "{ store: '/s', targets: { a: { kind: 'files' }, \"new-one\": OBJECT } }"
        ),
        (
            "{ targets: { a: { kind: 'files' }, }, store: '/s' } // end",
            "{ targets: { a: { kind: 'files' }, \"new-one\": OBJECT, }, store: '/s' } // end"
        ),
        (
            "{\n\t\"targets\": {\n\t\ta: { kind: '}' }  // last {\n\t\t// more\n\t},\n\tunits: {},\n}\n",
            "{\n\t\"targets\": {\n\t\ta: { kind: '}' },  // last {\n\t\t// more\n\t\t\"new-one\": OBJECT,\n\t},\n\tunits: {},\n}\n"
        ),
        (
            "{\n    targets: {}, // none\n}\n",
            "{\n    targets: {\n        \"new-one\": OBJECT,\n    }, // none\n}\n"
        ),
        ("{ targets: { /* none */ } }", "{ targets: {\n    \"new-one\": OBJECT,\n /* none */ } }"),
        (
            "\u{FEFF}{\r\n  store: '/s'\r\n}\r\n",
            "\u{FEFF}{\r\n  store: '/s',\r\n  targets: {\n      \"new-one\": OBJECT,\n  },\n}\r\n"
        ),
    ])
    func addsTarget(text: String, expected: String) throws {
        let changed = try Self.added(text)
        #expect(changed == expected.replacing("OBJECT", with: Self.object))
        let back = try #require(try Self.removed(changed))
        #expect(!back.contains("new-one"))
        // A second one goes behind the first, and each is removed alone.
        let two = String(decoding: try TargetText.adding("b", Self.object, to: Array(changed.utf8)), as: UTF8.self)
        #expect(try Self.removed(two, "b")?.contains("new-one") == true)
        #expect(try Self.removed(two)?.contains("b: {") == true)
    }

    @Test func removesTarget() throws {
        let text = """
            {
                targets: {
                    // The archive.
                    archive: { kind: "files", // here
                        folder: "/a" }, // gone
                    b: { kind: "files", folder: "/b" }, c: { kind: "files", folder: "/c" }
                },
            }
            """
        let archive = "        archive: { kind: \"files\", // here\n            folder: \"/a\" }, // gone\n"
        #expect(try Self.removed(text, "archive") == text.replacing(archive, with: ""))
        #expect(try Self.removed(text, "b") == text.replacing("b: { kind: \"files\", folder: \"/b\" }, ", with: ""))
        #expect(try Self.removed(text, "c") == text.replacing("c: { kind: \"files\", folder: \"/c\" }", with: ""))
        #expect(try Self.removed(text, "d") == nil)
        #expect(try Self.removed("{}", "d") == nil)
    }

    @Test func refusesInvalidTargetsObject() {
        for text in ["[]", "{ targets: null }", "{ targets: [] }", "{", "{ targets: {}, targets: {} }"] {
            #expect(throws: ConfigurationError.self) { try Self.added(text) }
        }
    }
}
