import CLibXML2

/// HL7's schemas of CDA documents, release 2: the normative one, and the one with HL7's SDTC extensions, which nearly all documents use.
/// They are loaded with the first document.
package final class DocumentSchema {
    /// The folder `CDASchema` of the checkout or the installation.
    private let folder: String?
    private var schemas: [Kind: OpaquePointer?] = [:]

    enum Kind: CaseIterable {
        case extended, normative

        var path: String {
            switch self {
            case .extended: "extensions/SDTC/infrastructure/cda/CDA_SDTC.xsd"
            case .normative: "normative/infrastructure/cda/CDA.xsd"
            }
        }
    }

    /// - Parameter folders: the folders of device profiles. `CDASchema` is in one of them, as in an installation, or beside one, as in a
    ///   checkout. The first match is used.
    package init(folders: [String]) {
        let candidates = folders.flatMap { folder -> [String] in ["\(folder)/CDASchema", "\(folder)/../CDASchema"] }
        folder = candidates.first { xmlCheckFilename($0) > 0 }
    }

    deinit { for case let schema? in schemas.values { xmlSchemaFree(schema) } }

    /// Returns a schema, or `nil` if its files are missing or incomplete.
    func schema(_ kind: Kind) -> OpaquePointer? {
        if let known = schemas[kind] { return known }
        let read = folder.flatMap { Self.read($0 + "/" + kind.path) }
        schemas[kind] = .some(read)
        return read
    }

    private static func read(_ path: String) -> OpaquePointer? {
        guard let context = xmlSchemaNewParserCtxt(path) else { return nil }
        defer { xmlSchemaFreeParserCtxt(context) }
        var problem = vitalgate_xml_problem()
        return withUnsafeMutablePointer(to: &problem) { problem in
            vitalgate_xml_listen_schema(context, problem)
            return xmlSchemaParse(context)
        }
    }
}
