import Formats
import HealthModel
import Pipeline

/// Writes readings, sleep and workouts to a FHIR R4 server: one Observation each, with two components for a blood pressure.
/// Clinical records and documents are written unchanged, one DocumentReference each.
///
/// If the server allows clients to choose ids, a sample is `Observation/{UUID}`, so a repeated reading is stored once. If not, a
/// sample is found by its identifier: it is searched, created only if it does not exist, and searched again, until there is
/// exactly one. A batch is one transaction.
///
/// Deleted and replaced samples become entered-in-error and refer to their replacement. If the server never had the sample,
/// nothing is created.
package final class FHIRExporter: ComparableExporter {
    /// The maximum number of changes in a transaction, because servers limit its size.
    package let batchLimit = 500
    let settings: FHIRSettings
    let context: ExportContext
    let server: FHIRServer
    private let encoder: ObservationEncoder
    /// Devices that exist on the server.
    private var devices: Set<String> = []
    /// Created resources that a search has to find, by identifier, with the number of failed searches.
    private var unconfirmed: [String: Int] = [:]

    /// Quantities, sleep stages, workouts, clinical records and documents. A blood pressure is exported as its two quantities.
    package let kinds: Set<SampleKind> = [.quantity, .category, .workout, .clinicalRecord, .document]

    /// Whether the sample has a FHIR code for its type and value, and its person has a patient.
    package func accepts(_ sample: Sample) -> Bool { kinds.contains(sample.origin.kind) && encoder.hasPlace(for: sample) }

    /// Whether the server keeps a mark, or `nil` before it was asked.
    var keepsMarks: Bool?
    /// The id of the mark on a server that chooses ids, once it is known.
    var markID: String?

    /// The number of attempts to write a batch if another client writes at the same time.
    private static let rounds = 4
    /// The number of failed searches for a created resource before it counts as lost.
    private static let maximumSearches = 20

    /// Creates an exporter without connecting.
    package init(_ settings: FHIRSettings, context: ExportContext) {
        (self.settings, self.context) = (settings, context)
        var patients = settings.patients
        patients[context.me] = settings.patient
        encoder = ObservationEncoder(context, patients: patients, ids: settings.ids)
        server = FHIRServer(settings)
    }

    /// Closes the connection.
    package func finish() { server.close() }

    /// The server's address, which identifies it. Samples are found by UUID.
    package var address: String { settings.url }

    /// The patients and the kind of ids.
    package var shape: String {
        let others = settings.patients.sorted { $0.key < $1.key }.map { "patients.\($0.key)=\($0.value)" }
        return (["patient=\(settings.patient)", "ids=\(settings.ids.rawValue)"] + others).joined(separator: " ")
    }

    // MARK: Looking

    /// Checks that it is a FHIR R4 server with the needed features, and that the patients exist.
    package func check() throws(DeliveryError) -> [Finding] {
        guard let statement = try server.get("metadata"), statement.resourceType == "CapabilityStatement" else {
            throw DeliveryError(.unfit, "\(settings.url) is not a FHIR server: it has no CapabilityStatement")
        }
        var findings = CapabilityCheck(statement, ids: settings.ids).findings
        for patient in Set([settings.patient] + settings.patients.values).sorted() {
            // The patient is named in the configuration. The person's name is not reported.
            let isThere = try server.get(patient)?.resourceType == "Patient"
            findings.append(
                isThere
                    ? Finding(.good, patient, "is there")
                    : Finding(.broken, patient, "does not exist, or this account cannot read it"))
        }
        if settings.url.hasPrefix("http://"), !FHIRSettings.isHere(settings.url) {
            findings.append(Finding(.warning, settings.url, "readings are sent unencrypted: use https://"))
        }
        return findings
    }

    /// Sends a transaction without entries, because a server answers for its capabilities without credentials.
    package func checkAccess() throws(DeliveryError) { try server.checkAccess() }

    /// Passes on the UUIDs of our resources, which have a common tag, page by page.
    package func contents(_ body: ([TargetSample]) throws -> Void) throws {
        for type in ["Observation", DocumentResource.type] { try contents(type, body) }
    }

    private func contents(_ type: String, _ body: ([TargetSample]) throws -> Void) throws {
        let tag = "\(ObservationCodes.tagSystem)%7C\(ObservationCodes.tag)"
        var url: String? = "\(server.base)/\(type)?_tag=\(tag)&_count=200&_elements=identifier,status"
        var pages: Set<String> = []
        while let page = url {
            // The token must not be sent to another server.
            guard FHIRSettings.host(of: String(page.prefix { $0 != "?" })) == FHIRSettings.host(of: server.base),
                page.hasPrefix("https://") == server.base.hasPrefix("https://")
            else {
                throw DeliveryError(
                    .unfit, "the server's next page has the address of another server: configure the server's own address on it")
            }
            guard pages.insert(page).inserted else { throw DeliveryError(.unfit, "the server's pages form a loop") }
            let found = try server.get(url: page)
            // A server need not support DocumentReference.
            if found == nil, type == DocumentResource.type, pages.count == 1 { return }
            guard let bundle = found, bundle.type == "searchset" else {
                throw DeliveryError(.unfit, "the server's response to a search is not valid FHIR R4")
            }
            try body(bundle.ownResources.filter(\.isLive).flatMap(Self.identities).map { TargetSample($0) })
            url = bundle.next
        }
    }

    /// Returns the samples in an Observation: one, or both of a blood pressure.
    private static func identities(_ observation: FHIRResource) -> [SampleIdentity] {
        (observation.identifier ?? []).compactMap { identifier in
            guard let value = identifier.value, value.hasPrefix("urn:uuid:") else { return nil }
            return SampleIdentity(value.dropFirst(9))
        }
    }

    // MARK: Delivering

    /// The desired state of an Observation or DocumentReference.
    private struct Wanted {
        var type = "Observation"
        /// The id, if the client chooses it.
        let id: String
        /// The identifier for searches.
        let identifier: String
        let isEmpty: Bool
        /// The samples that it contains.
        let samples: Set<SampleIdentity>
        let device: Device?
        /// The resource with an id, and as an error if it is a duplicate.
        let resource: (_ id: String?) -> JSONObject
        let retired: (_ id: String?) -> JSONObject
    }

    /// Writes a batch in one transaction. If another client was faster, the batch is planned again from the server's new state.
    package func deliver(_ batch: ExportBatch) throws(DeliveryError) -> Int {
        let (wanted, leftOut) = try gather(batch)
        var overtaken = DeliveryError(.unreachable, "the server keeps changing")
        var mark = keepsMarks == true ? batch.mark : nil
        for _ in 0..<Self.rounds {
            var plan = FHIRPlan(base: server.base, ids: settings.ids, devices: devices)
            switch settings.ids {
            case .client: try planNamed(wanted, &plan)
            case .server: try planFound(wanted, rewriting: batch.rewrites, &plan)
            }
            if let mark { plan.put(mark, markResource, at: markID) }
            guard plan.bundle.count > 0 else { return leftOut }
            switch try transact(plan.bundle, with: mark) {
            case .overtaken(let error): overtaken = error
            case .done:
                mark = nil
                if settings.ids == .client { devices.formUnion(plan.newDevices) }
                guard !plan.created.isEmpty else { return leftOut }
                // One more round checks that each resource exists exactly once.
                for identifier in plan.created { unconfirmed[identifier] = 0 }
                overtaken = DeliveryError(.unreachable, "a written resource does not keep its content")
            }
        }
        throw overtaken
    }

    /// Returns the last change of each sample, and each blood pressure as in the store.
    private func gather(_ batch: ExportBatch) throws(DeliveryError) -> (wanted: [Wanted], leftOut: Int) {
        var leftOut = 0
        var order: [String] = []
        var last: [String: Wanted] = [:]
        for change in batch.changes {
            let sample = change.sample
            guard encoder.hasPlace(for: sample) else {
                leftOut += 1
                continue
            }
            let wanted: Wanted
            if ObservationCodes.isBloodPressure(sample.origin.type) {
                wanted = try panel(of: change)
            } else if DocumentResource.kinds.contains(sample.origin.kind) {
                wanted = try document(of: change)
            } else {
                wanted = observation(of: change)
            }
            if last.updateValue(wanted, forKey: wanted.id) == nil { order.append(wanted.id) }
        }
        return (order.compactMap { last[$0] }, leftOut)
    }

    private func observation(of change: SampleChange) -> Wanted {
        let (sample, encoder) = (change.sample, encoder)
        var state = ObservationEncoder.SampleState.live
        var isEmpty = false
        if case .deleted(let deletion) = change { (state, isEmpty) = (.deleted(replacedBy: deletion.replacedBy), true) }
        let id = sample.identity.description
        return Wanted(
            id: id, identifier: "\(ObservationCodes.uri)%7Curn:uuid:\(id)", isEmpty: isEmpty, samples: [sample.identity],
            device: sample.origin.device, resource: { encoder.resource(of: sample, id: $0, state: state) },
            retired: { encoder.resource(of: sample, id: $0, state: .deleted(replacedBy: nil)) })
    }

    private func document(of change: SampleChange) throws(DeliveryError) -> Wanted {
        let (sample, encoder) = (change.sample, encoder)
        let document: DocumentResource
        do throws(ContentError) {
            document = try DocumentResource(sample)
        } catch {
            throw DeliveryError(.refused, "its content in the store: \(error)")
        }
        var state = ObservationEncoder.SampleState.live
        var isEmpty = false
        if case .deleted(let deletion) = change { (state, isEmpty) = (.deleted(replacedBy: deletion.replacedBy), true) }
        let id = sample.identity.description
        return Wanted(
            type: DocumentResource.type, id: id, identifier: "\(ObservationCodes.uri)%7Curn:uuid:\(id)", isEmpty: isEmpty,
            samples: [sample.identity], device: nil, resource: { document.resource(id: $0, state: state, encoder) },
            retired: { document.resource(id: $0, state: .deleted(replacedBy: nil), encoder) })
    }

    private func panel(of change: SampleChange) throws(DeliveryError) -> Wanted {
        let (sample, encoder) = (change.sample, encoder)
        let present: [Sample]
        do {
            present = try context.packet(sample, [.bloodPressureSystolic, .bloodPressureDiastolic])
        } catch {
            throw DeliveryError(.unreachable, "the store: \(error)")
        }
        let id = BloodPressurePanel.id(of: sample)
        let halves = present.filter { BloodPressurePanel.id(of: $0) == id }
        guard Set(halves.map(\.origin.type)).count == halves.count else {
            throw DeliveryError(
                .refused, "its packet has the same pressure twice, which a FHIR blood pressure cannot represent")
        }
        let panel = BloodPressurePanel(of: sample, present: halves)
        var replacedBy: String?
        if case .deleted(let deletion) = change { replacedBy = deletion.replacedBy }
        let deleted = BloodPressurePanel(of: sample, present: [])
        return Wanted(
            id: id, identifier: "\(ObservationCodes.made)%7C\(id)", isEmpty: panel.isEmpty,
            samples: Set([panel.systolic, panel.diastolic].compactMap { $0?.identity }), device: sample.origin.device,
            resource: { panel.resource(id: $0, panel: id, replacedBy: replacedBy, encoder) },
            retired: { deleted.resource(id: $0, panel: id, replacedBy: nil, encoder) })
    }

    /// Plans resources with our own ids. Only deleted samples have to be looked up.
    private func planNamed(_ wanted: [Wanted], _ plan: inout FHIRPlan) throws(DeliveryError) {
        let found = try server.look(wanted.filter(\.isEmpty).map { "\($0.type)/\($0.id)" })
        let there = Set(found.joined().filter(\.isLive).compactMap(\.id))
        for each in wanted where !each.isEmpty || there.contains(each.id) {
            plan.add(each.device)
            plan.put(each.id, type: each.type, each.resource(each.id))
        }
    }

    /// Plans resources that are found by identifier and must exist only once.
    private func planFound(_ wanted: [Wanted], rewriting: Bool, _ plan: inout FHIRPlan) throws(DeliveryError) {
        let found = try server.look(wanted.map { "\($0.type)?identifier=\($0.identifier)" })
        for (each, resources) in zip(wanted, found) {
            try confirm(each.identifier, isFound: !resources.isEmpty)
            // Sorted so that every hub sees the same one first: the oldest valid one.
            let sorted = resources.sorted { Self.rank($0) < Self.rank($1) }
            let live = sorted.filter(\.isLive)
            if each.isEmpty {
                if !live.isEmpty { plan.add(each.device) }
                for one in live { plan.put(one.id ?? "", type: each.type, each.resource(one.id ?? "")) }
            } else if let first = sorted.first {
                if rewriting || !first.isLive || Set(Self.identities(first)) != each.samples {
                    plan.add(each.device)
                    plan.put(first.id ?? "", type: each.type, each.resource(first.id ?? ""))
                }
                if live.count > 1 { plan.add(each.device) }
                for other in live.dropFirst() { plan.put(other.id ?? "", type: each.type, each.retired(other.id ?? "")) }
            } else {
                plan.add(each.device)
                plan.create(each.identifier, id: each.id, type: each.type, each.resource(nil))
            }
        }
    }

    private static func rank(_ resource: FHIRResource) -> (Int, Int, String) {
        let id = resource.id ?? ""
        return (resource.isLive ? 0 : 1, id.utf8.count, id)
    }

    /// Checks that a created resource is found before it may be created again. Otherwise a server with a delayed search index
    /// would store it twice.
    private func confirm(_ identifier: String, isFound: Bool) throws(DeliveryError) {
        guard let asked = unconfirmed[identifier] else { return }
        unconfirmed[identifier] = isFound || asked >= Self.maximumSearches ? nil : asked + 1
        if !isFound, asked < Self.maximumSearches {
            throw DeliveryError(.unreachable, "a search does not find the written resource yet")
        }
    }
}
