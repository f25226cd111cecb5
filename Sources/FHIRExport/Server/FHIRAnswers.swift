/// The fields that are read from a server's resource, without measured values.
struct FHIRResource: Decodable {
    struct Entry: Decodable {
        struct Response: Decodable { var status: String? }
        var resource: FHIRResource?
        var response: Response?
    }
    struct Link: Decodable {
        var relation: String?
        var url: String?
    }
    struct Identifier: Decodable {
        var value: String?
    }
    struct Extension: Decodable {
        var url: String?
        var valueString: String?
    }
    struct Issue: Decodable {
        var severity: String?
        var code: String?
        var expression: [String]?
        var location: [String]?
    }
    struct Rest: Decodable {
        struct Interaction: Decodable { var code: String? }
        struct Kind: Decodable {
            var type: String?
            var interaction: [Interaction]?
            var updateCreate: Bool?
            var conditionalCreate: Bool?
        }
        var mode: String?
        var interaction: [Interaction]?
        var resource: [Kind]?
    }

    var resourceType: String?
    var id: String?
    var status: String?
    var identifier: [Identifier]?
    var `extension`: [Extension]?
    // Of a Bundle.
    var type: String?
    var entry: [Entry]?
    var link: [Link]?
    // Of an OperationOutcome.
    var issue: [Issue]?
    // Of a CapabilityStatement.
    var fhirVersion: String?
    var rest: [Rest]?

    private enum Key: String, CodingKey {
        case resourceType, id, status, identifier, `extension`, type, entry, link, issue, fhirVersion, rest
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        resourceType = try members.decodeIfPresent(String.self, forKey: .resourceType)
        id = try members.decodeIfPresent(String.self, forKey: .id)
        // A field with another form belongs to a resource type that is not ours.
        status = try? members.decodeIfPresent(String.self, forKey: .status)
        identifier = try? members.decodeIfPresent([Identifier].self, forKey: .identifier)
        `extension` = try? members.decodeIfPresent([Extension].self, forKey: .extension)
        type = try? members.decodeIfPresent(String.self, forKey: .type)
        entry = try members.decodeIfPresent([Entry].self, forKey: .entry)
        link = try? members.decodeIfPresent([Link].self, forKey: .link)
        issue = try members.decodeIfPresent([Issue].self, forKey: .issue)
        fhirVersion = try members.decodeIfPresent(String.self, forKey: .fhirVersion)
        rest = try members.decodeIfPresent([Rest].self, forKey: .rest)
    }

    var isLive: Bool { status != "entered-in-error" }

    /// Whether we create resources of this type.
    var isOurs: Bool { resourceType == "Observation" || resourceType == DocumentResource.type }

    /// The Observations and DocumentReferences of a Bundle.
    var ownResources: [FHIRResource] { (entry ?? []).compactMap(\.resource).filter { $0.isOurs && $0.id != nil } }

    /// The address of a Bundle's next page.
    var next: String? { link?.first { $0.relation == "next" }?.url }
}
