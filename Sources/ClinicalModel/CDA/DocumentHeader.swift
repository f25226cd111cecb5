/// The header of a document: its people, time and title. It is filled while the document is parsed, in document order.
struct DocumentHeader {
    private(set) var title = ""
    /// The text of ``ClinicalDocument/effectiveTime`` as HL7's data type TS.
    private(set) var effectiveTime: String?
    private(set) var patient = ""
    private(set) var custodian = ""
    private(set) var authors: [String] = []
    /// The `id` of the document.
    private(set) var identifier: String?
    /// Whether an entry is directly under the root. Apple's own export writes that, and it is invalid in a clinical document.
    private(set) var hasBareEntry = false

    private var path: [String] = []
    /// The name that is being read, with its parts by element.
    private var name: (depth: Int, parts: [String: [String]], text: String)?
    private var authorsPerson = ""
    private var authorsOrganisation = ""

    private static let parts = ["prefix", "given", "family", "suffix"]

    /// Called when an element begins. The root has depth 0.
    mutating func start(_ element: String, depth: Int, attribute: (String) -> String?) {
        endNames(from: depth)
        path.removeSubrange(min(depth, path.count)...)
        path.append(element)
        switch path.dropFirst().joined(separator: "/") {
        case "effectiveTime": effectiveTime = attribute("value")
        case "entry": hasBareEntry = true
        case "author": endAuthor()
        case "id":
            let written = [attribute("root"), attribute("extension")]
            identifier = written.compactMap { $0 }.joined(separator: "^")
        case let inner where Self.names.contains(inner): name = (depth, [:], "")
        default: break
        }
    }

    private static let patientName = "recordTarget/patientRole/patient/name"
    private static let custodianName = "custodian/assignedCustodian/representedCustodianOrganization/name"
    private static let personName = "author/assignedAuthor/assignedPerson/name"
    private static let deviceNames = ["manufacturerModelName", "softwareName"].map {
        "author/assignedAuthor/assignedAuthoringDevice/\($0)"
    }
    private static let organisationName = "author/assignedAuthor/representedOrganization/name"
    private static let names = Set([patientName, custodianName, personName, organisationName] + deviceNames)

    /// Called with text in the current element.
    mutating func text(_ text: String, depth: Int) {
        if path.count == 2, path[1] == "title", depth == 2 { title = Self.joined([title, text]) }
        guard var name, path.count > name.depth else { return }
        let part = path.last ?? ""
        if path.count == name.depth + 2, Self.parts.contains(part), depth == name.depth + 2 {
            name.parts[part, default: []].append(text)
        } else {
            name.text = Self.joined([name.text, text])
        }
        self.name = name
    }

    /// Called when an element ends.
    mutating func end(depth: Int) {
        endNames(from: depth)
        path.removeSubrange(min(depth, path.count)...)
        if depth == 1 { endAuthor() }
    }

    private mutating func endNames(from depth: Int) {
        guard let name, depth <= name.depth else { return }
        let parts = Self.joined(Self.parts.flatMap { name.parts[$0] ?? [] })
        let whole = parts.isEmpty ? name.text : parts
        self.name = nil
        switch path.dropFirst().prefix(name.depth).joined(separator: "/") {
        case Self.patientName where patient.isEmpty: patient = whole
        case Self.custodianName where custodian.isEmpty: custodian = whole
        case Self.personName where authorsPerson.isEmpty: authorsPerson = whole
        case Self.organisationName where authorsOrganisation.isEmpty: authorsOrganisation = whole
        case let inner where Self.deviceNames.contains(inner):
            // The name of a device's software often contains the name of the device.
            if whole.contains(authorsPerson) {
                authorsPerson = whole
            } else if !authorsPerson.contains(whole) {
                authorsPerson = Self.joined([authorsPerson, whole])
            }
        default: break
        }
    }

    /// Adds the author's person or device, or the organization if neither is named.
    private mutating func endAuthor() {
        let author = authorsPerson.isEmpty ? authorsOrganisation : authorsPerson
        if !author.isEmpty, !authors.contains(author), authors.count < Self.maximumAuthors { authors.append(author) }
        (authorsPerson, authorsOrganisation) = ("", "")
    }

    private static let maximumAuthors = 100
    private static let maximumText = 1024

    /// Returns the words with single blanks between them.
    private static func joined(_ texts: [String]) -> String {
        let words = texts.flatMap { $0.split(whereSeparator: \.isWhitespace) }
        return String(words.joined(separator: " ").prefix(maximumText))
    }
}
