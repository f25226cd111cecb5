import CommandLineKit
import HealthModel
import SampleStore

/// Explains why a UUID has no sample: it is a duplicate, was replaced, was deleted, or never existed.
struct AbsenceNote {
    let context: CommandContext
    let store: SampleStore

    func printReason(of uuid: SampleIdentity) throws -> ExitCode {
        if let first = try store.duplicates.explain(uuid)?.first {
            context.note("vitalgate: \(uuid) is a duplicate of \(first.other.uuid) by rule \(first.rule.rawValue)")
            return .dataError
        }
        switch try store.samples.lookup(uuid) {
        case .live: return .success
        case .deleted(_, let replacement?): context.note("vitalgate: " + (try explain(uuid, replacedBy: replacement)))
        case .deleted(_, nil):
            context.note("vitalgate: \(uuid) is deleted (restore it with 'vitalgate restore \(uuid)')")
        case nil: context.note("vitalgate: no sample has the UUID \(uuid)")
        }
        return .dataError
    }

    /// The chain of replacements of a sample, up to the current one.
    private func explain(_ uuid: SampleIdentity, replacedBy replacement: String) throws -> String {
        var text = "\(uuid) was replaced by \(replacement)"
        var next = SampleIdentity(replacement)
        var seen: Set<SampleIdentity> = [uuid]
        while let uuid = next, seen.insert(uuid).inserted {
            if let repair = try store.repairs.repair(ofEntry: uuid) {
                text += " (repair \(repair.id): \(Repair.words(of: repair.repair)))"
            }
            next = nil
            switch try store.samples.lookup(uuid) {
            case .deleted(_, let replacement?):
                text += ", which was replaced by \(replacement)"
                next = SampleIdentity(replacement)
            case .deleted(_, nil): text += ", which is deleted"
            default: break
            }
        }
        return text
    }
}
