import HealthModel
import Pipeline
import SampleStore

/// Decides which user of a shared scale was weighed: by the user number that the scale sends, or else by the weight. If the
/// users' ranges overlap there, or no range contains the weight, the weighing stays ``Origin/unassigned`` until the user assigns
/// it. All readings in one frame belong to the same person.
///
/// The subject is part of a reading's identity. A reading that is already stored keeps its owner, even if the ranges have
/// changed, unless only a member's own file contained it.
struct SharedScale {
    let store: SampleStore

    /// Assigns the readings of a shared device, from `first` on.
    func assign(_ batch: inout [GatedSample], from first: Int, of device: LiveDevice) throws {
        let uses = device.adopted.sharedBy
        guard !device.adopted.sharers.isEmpty else { return }
        var index = first
        while index < batch.count {
            let members = PersonHistory.members(of: index, in: batch)
            defer { index = (members.last ?? index) + 1 }
            // Readings of the room are not assigned to a person.
            let ofBody = members.filter { !batch[$0].sample.origin.type.isOfRoom }
            guard let person = try person(of: ofBody.map { batch[$0] }, uses, device) else { continue }
            for member in ofBody {
                guard let sample = PersonHistory.reading(batch[member].sample, of: person) else { continue }
                batch[member].sample = sample
            }
        }
    }

    /// Assigns readings of shared devices to the owners that they have in the store, regardless of the decision at their arrival.
    ///
    /// - Parameter uses: the subjects by device key.
    static func assign(
        _ batch: inout [GatedSample], asKnownIn store: SampleStore, sharedBy uses: [String: Set<String>]
    ) throws {
        guard !uses.isEmpty else { return }
        var index = 0
        while index < batch.count {
            let members = PersonHistory.members(of: index, in: batch)
            defer { index = (members.last ?? index) + 1 }
            let sample = batch[index].sample
            guard let key = sample.origin.device?.key, let uses = uses[key], try !store.samples.knows(sample) else { continue }
            for person in [Origin.unassigned] + uses.sorted() where person != sample.origin.person {
                guard let other = PersonHistory.reading(sample, of: person), try store.samples.isAssigned(other) else {
                    continue
                }
                for member in members {
                    if let other = PersonHistory.reading(batch[member].sample, of: person) { batch[member].sample = other }
                }
                break
            }
        }
    }

    /// Returns the person, or `nil` if it cannot be decided.
    private func person(of frame: [GatedSample], _ uses: [SharedUse], _ device: LiveDevice) throws -> String? {
        guard let first = frame.first, first.sample.origin.person == Origin.unassigned else { return nil }
        var chosen: String?
        if let user = user(of: frame, device) {
            chosen = user
            if let weight = frame.first(where: { $0.sample.origin.type == .bodyMass }) {
                device.lastWeighing = (weight.sample.start, user)
            }
        } else if let weight = frame.first(where: { $0.sample.origin.type == .bodyMass && $0.rule == nil }) {
            let matching = uses.filter { $0.weights.contains(weight.sample.value) }
            if matching.count == 1 { chosen = matching[0].person }
            device.lastWeighing = chosen.map { (weight.sample.start, $0) }
        } else if let last = device.lastWeighing, last.start == first.sample.start || isOfLast(first.sample, device) {
            // The second part of a measurement has the time of the first.
            chosen = last.person
        }
        if try store.samples.knows(first.sample) { return nil }
        for person in device.adopted.sharers.sorted() where person != chosen {
            if let other = PersonHistory.reading(first.sample, of: person), try store.samples.isAssigned(other) {
                return person
            }
        }
        return chosen
    }

    /// Returns the person with the scale's own user number, if it sent one.
    private func user(of frame: [GatedSample], _ device: LiveDevice) -> String? {
        guard !device.adopted.users.isEmpty, case .number(let number)? = frame.first?.sample.metadata?["userIndex"] else {
            return nil
        }
        return device.adopted.users.first { Double($0.number) == number.doubleValue }?.person
    }

    /// Whether the reading arrived with a repetition of the last weight.
    private func isOfLast(_ sample: Sample, _ device: LiveDevice) -> Bool {
        guard let again = device.weightAgain else { return false }
        return again.received == sample.start && again.taken == device.lastWeighing?.start
    }
}
