import Glibc

/// A release of FHIR that health records use.
package enum FHIRRelease: String, Hashable, Sendable {
    /// FHIR 1.0.2.
    case dstu2 = "DSTU2"
    /// FHIR 4.0.1.
    case r4 = "R4"

    var structure: Structure { self == .dstu2 ? .dstu2 : .r4 }
    var other: FHIRRelease { self == .dstu2 ? .r4 : .dstu2 }

    /// Parses the name of a release, or its number (`1.0.2`, `4.0.1`).
    package init?(_ text: String) {
        switch text {
        case "DSTU2": self = .dstu2
        case "R4": self = .r4
        case _ where text.hasPrefix("1.0"): self = .dstu2
        case _ where text.hasPrefix("4.0"): self = .r4
        default: return nil
        }
    }
}

/// Chooses the release of a resource and validates it.
///
/// 1. If the context names the release, the resource must be valid in it.
/// 2. If the resource contains a hint (the guide of its profile, code systems new in R4) and is valid in that release, that release is
///    used.
/// 3. If it is valid in one release and has elements unknown in the other, the valid one is used.
/// 4. If it is valid in both, or only lacks something in the other, the last known release of the same source is used.
/// 5. Otherwise it is rejected, and the message names the options that choose a release.
struct ReleaseChoice {
    /// The release of each source's last resource that was not ambiguous.
    private var shown: [String: FHIRRelease] = [:]
    private static let maximumSources = 1000

    private mutating func note(_ release: FHIRRelease, of source: String) -> FHIRRelease {
        if shown.count >= Self.maximumSources { shown.removeAll() }
        shown[source] = release
        return release
    }

    /// Checks that a resource is valid in any release.
    ///
    /// - Throws: ``ResourceFault`` if it is not.
    func check(_ tape: borrowing JSONTape, type: String, source: String, declared: FHIRRelease?) throws(ResourceFault) {
        let release = declared ?? Self.hint(tape) ?? shown[source] ?? .r4
        let one = StructureValidator(tape, type: type, as: release.structure)
        guard let fault = one.fault else { return }
        var near = (fault: fault, count: one.count, release: release)
        if declared == nil {
            let two = StructureValidator(tape, type: type, as: release.other.structure)
            guard let fault = two.fault else { return }
            if two.count < near.count { near = (fault, two.count, release.other) }
        }
        throw Self.fault(near.fault, near.release)
    }

    /// Returns the release of a resource that records refer to. It is not validated, so that an error in an address does not lose the name
    /// of a drug. Without a hint, its form decides, then the last known release of the same source, and then it is R4.
    func release(ofReferenced tape: borrowing JSONTape, type: String, source: String, declared: FHIRRelease?) -> FHIRRelease {
        declared ?? Self.hint(tape) ?? Self.form(tape, type: type) ?? shown[source] ?? .r4
    }

    /// Returns the release that has an element of a resource in this form: one value in DSTU2, and a list or an object in R4.
    private static func form(_ tape: borrowing JSONTape, type: String) -> FHIRRelease? {
        var element: Int?
        switch type {
        case "PractitionerRole": return .r4
        case "Encounter":
            guard let element = tape.member("class", of: 0) else { return nil }
            return tape.nodes[element].kind == .string ? .dstu2 : .r4
        case "Practitioner": element = tape.member("name", of: 0)
        case "Organization", "Location": element = tape.member("type", of: 0)
        default: break
        }
        guard let element else { return nil }
        return tape.nodes[element].kind == .array ? .r4 : .dstu2
    }

    private static func fault(_ fault: ResourceFault, _ release: FHIRRelease) -> ResourceFault {
        ResourceFault(fault.path, fault.reason + " (\(release.rawValue))")
    }

    /// Returns the release of a resource.
    ///
    /// - Throws: ``ResourceFault``. If it is valid in no release, the error is that of the release with fewer errors.
    mutating func release(
        of tape: borrowing JSONTape, type: String, source: String, declared: FHIRRelease?
    ) throws(ResourceFault) -> FHIRRelease {
        if let declared {
            if let fault = StructureValidator(tape, type: type, as: declared.structure).fault {
                throw Self.fault(fault, declared)
            }
            return declared
        }
        let hint = Self.hint(tape)
        let first = hint ?? shown[source] ?? .r4
        let one = StructureValidator(tape, type: type, as: first.structure)
        // If it is valid in the release that it names, the other release is not checked.
        if one.fault == nil, hint != nil { return note(first, of: source) }
        let two = StructureValidator(tape, type: type, as: first.other.structure)
        if let fault = one.fault, two.fault != nil, one.count <= two.count { throw Self.fault(fault, first) }
        if let fault = two.fault, one.fault != nil { throw Self.fault(fault, first.other) }
        let (release, other) = one.fault == nil ? (first, two) : (first.other, one)
        if other.hasForeign { return note(release, of: source) }
        guard let before = shown[source] else {
            throw ResourceFault(
                type, "can be of DSTU2 or R4: choose one with --profile fhir-dstu2 or --profile fhir-r4")
        }
        if before != release, let fault = other.fault { throw Self.fault(fault, before) }
        return before
    }

    /// The release that the resource hints at.
    private static func hint(_ tape: borrowing JSONTape) -> FHIRRelease? {
        for profile in tape.list(tape.member("profile", of: tape.member("meta", of: 0))) {
            let address = tape.bytes(of: profile)
            // US Core is a guide for R4. Argonaut, its predecessor, is one for DSTU2.
            if contains("/fhir/us/core/", address) { return .r4 }
            if contains("/argonaut", address) { return .dstu2 }
        }
        // HL7's code systems have these addresses since R4.
        let terminology: StaticString = "http://terminology.hl7.org/"
        let length = terminology.utf8CodeUnitCount
        for index in tape.nodes.indices where tape.nodes[index].kind == .string {
            let bytes = tape.bytes(of: index)
            if bytes.count > length, UnsafeRawBufferPointer(rebasing: bytes[..<length]).isEqual(to: terminology) { return .r4 }
        }
        return nil
    }

    private static func contains(_ text: StaticString, _ bytes: UnsafeRawBufferPointer) -> Bool {
        let length = text.utf8CodeUnitCount
        guard let start = bytes.baseAddress, bytes.count >= length else { return false }
        return (0...(bytes.count - length)).contains { memcmp(start + $0, text.utf8Start, length) == 0 }
    }
}
