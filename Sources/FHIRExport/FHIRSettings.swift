import Pipeline

/// The address, credentials and patients of a FHIR server.
package struct FHIRSettings: ExporterSettings {
    /// `url`, `ids`, `patient`, `patients`, `token`, `user`, `password`, `certificateAuthority`.
    package static let settings = Key.settings
    /// The server's base URL without a slash at the end, such as `https://fhir.example.org/r4`.
    package var url: String
    /// The side that chooses resource ids.
    package var ids = ObservationEncoder.IDs.client
    /// The patient for the readings of `me`, such as `Patient/7`.
    package var patient: String
    /// The patients of other subjects. Readings of unnamed subjects are omitted because they would be harmful in another person's
    /// record.
    package var patients: [String: String] = [:]
    /// A bearer token (OAuth 2).
    package var token: Secret?
    /// A user name for basic authentication, instead of a token.
    package var user: String?
    package var password: Secret?
    /// The path of a file with trusted certificates, or `nil` for the system's.
    package var certificateAuthority: String?

    /// Creates settings without authorisation. Ids are chosen by the client.
    package init(url: String, patient: String) { (self.url, self.patient) = (url, patient) }

    private enum Key: String, ExporterSettingKey {
        case url, ids, patient, patients, token, user, password, certificateAuthority

        var form: ExporterSetting.Form {
            switch self {
            case .patients: .texts
            case .token, .password: .secret
            default: .text
            }
        }
    }

    /// - Throws: ``SettingsFault`` if a value is invalid.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        url = try members.decode(String.self, forKey: .url)
        while url.hasSuffix("/") { url.removeLast() }
        guard Self.host(of: url) != nil else {
            throw SettingsFault("url", "expected http:// or https:// with a host, without a name, a password or a query")
        }
        if let name = try members.decodeIfPresent(String.self, forKey: .ids) {
            guard let ids = ObservationEncoder.IDs(rawValue: name) else {
                throw SettingsFault("ids", "expected client or server")
            }
            self.ids = ids
        }
        patient = try members.decode(String.self, forKey: .patient)
        patients = try members.decodeIfPresent([String: String].self, forKey: .patients) ?? [:]
        guard Self.isPatient(patient) else { throw SettingsFault("patient", "expected Patient/ID") }
        guard patients.values.allSatisfy(Self.isPatient) else {
            throw SettingsFault("patients", "expected { \"SUBJECT\": \"Patient/ID\" }")
        }
        token = try members.decodeIfPresent(Secret.self, forKey: .token)
        user = try members.decodeIfPresent(String.self, forKey: .user)
        password = try members.decodeIfPresent(Secret.self, forKey: .password)
        certificateAuthority = try members.decodeIfPresent(String.self, forKey: .certificateAuthority)
        guard (user == nil) == (password == nil) else { throw SettingsFault("user", "set both user and password") }
        guard token == nil || user == nil else { throw SettingsFault("token", "set a token or a user, not both") }
        if let user, user.contains(":") { throw SettingsFault("user", "a name without a colon") }
        if token != nil || user != nil, url.hasPrefix("http://"), !Self.isHere(url) {
            throw SettingsFault("url", "a secret needs https://, or a server on this machine")
        }
    }

    /// Returns the host and port of a URL.
    static func host(of address: String) -> String? {
        guard let start = ["https://", "http://"].first(where: address.hasPrefix)?.count else { return nil }
        let rest = address.dropFirst(start)
        let host = rest.prefix { $0 != "/" }
        guard !host.isEmpty, !rest.contains(where: { "@?# \"\\".contains($0) || $0.isNewline }) else { return nil }
        return String(host)
    }

    static func isHere(_ address: String) -> Bool {
        guard let host = host(of: address) else { return false }
        return ["localhost", "127.0.0.1", "[::1]"].contains { host == $0 || host.hasPrefix("\($0):") }
    }

    private static func isPatient(_ reference: String) -> Bool {
        guard reference.hasPrefix("Patient/") else { return false }
        let id = reference.dropFirst(8)
        return (1...64).contains(id.utf8.count)
            && id.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") }
    }
}
