/// A release of FHIR whose resources health records have.
public enum FHIRRelease: String, Hashable, Sendable {
    case dstu2 = "DSTU2"
    case r4 = "R4"

    var structure: Structure { self == .dstu2 ? .dstu2 : .r4 }
    var other: FHIRRelease { self == .dstu2 ? .r4 : .dstu2 }

    /// A release by its name, or by the number that HL7 gives it (`1.0.2`, `4.0.1`).
    public init?(_ text: String) {
        switch text {
        case "DSTU2": self = .dstu2
        case "R4": self = .r4
        case _ where text.hasPrefix("1.0"): self = .dstu2
        case _ where text.hasPrefix("4.0"): self = .r4
        default: return nil
        }
    }
}

/// Decides of which release a resource is, and whether it is valid there.
///
/// 1. What surrounds it says so: then it is of that release, or refused.
/// 2. It is valid in one release alone: then it is of that one.
/// 3. It is valid in both: what it says of itself decides (the guide of its profile, code systems that came with R4), then of which release
///    the resources in front of it in the same file were.
/// 4. It cannot be told: refused, with the options that tell it.
struct ReleaseChoice {
    /// Of which release the last resource was that told it by itself.
    private var shown: FHIRRelease?

    /// The release of a resource.
    ///
    /// - Throws: ``ResourceFault``; where it is valid in none, that of the release that it is nearer to.
    mutating func release(of tape: borrowing JSONTape, type: String, told: FHIRRelease?) throws(ResourceFault) -> FHIRRelease {
        if let told {
            if let fault = StructureValidator(tape, type: type, as: told.structure).fault {
                throw ResourceFault(fault.path, fault.reason + ", as \(told.rawValue) has it")
            }
            return told
        }
        let hint = Self.hint(tape)
        let first = hint ?? shown ?? .r4
        let one = StructureValidator(tape, type: type, as: first.structure)
        // What says of itself what it is, and is that, need not be compared with what it is not.
        if one.count == 0, hint != nil {
            shown = first
            return first
        }
        let two = StructureValidator(tape, type: type, as: first.other.structure)
        switch (one.count == 0, two.count == 0) {
        case (true, false):
            shown = first
            return first
        case (false, true):
            shown = first.other
            return first.other
        case (true, true):
            if let shown { return shown }
            throw ResourceFault(
                type, "is valid both as DSTU2 and as R4, and nothing tells which it is; --profile fhir-dstu2 or fhir-r4 does")
        case (false, false):
            let (near, release) = one.count <= two.count ? (one, first) : (two, first.other)
            guard let fault = near.fault else { throw ResourceFault(type, "is not valid") }
            throw ResourceFault(fault.path, fault.reason + ", as \(release.rawValue) has it")
        }
    }

    /// What a resource says of itself.
    private static func hint(_ tape: borrowing JSONTape) -> FHIRRelease? {
        for profile in tape.list(tape.member("profile", of: tape.member("meta", of: 0))) {
            let address = tape.text(profile)
            // US Core is a guide to R4; Argonaut's, which came before it, is one to DSTU2.
            if address.contains("/fhir/us/core/") { return .r4 }
            if address.contains("/argonaut") { return .dstu2 }
        }
        // The code systems of HL7 have these addresses since R4.
        let terminology: StaticString = "http://terminology.hl7.org/"
        let length = terminology.utf8CodeUnitCount
        for index in tape.nodes.indices where tape.nodes[index].kind == .string {
            let octets = tape.octets(of: index)
            if octets.count > length, UnsafeRawBufferPointer(rebasing: octets[..<length]).isEqual(to: terminology) { return .r4 }
        }
        return nil
    }
}
