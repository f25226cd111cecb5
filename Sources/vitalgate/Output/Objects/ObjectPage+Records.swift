import CommandLineKit
import HealthAnswers
import HealthModel

// Health records and other objects that people or clinics enter.
extension ObjectPage {
    mutating func show(_ record: ClinicalRecord, of sample: Sample) throws {
        if let result = record.result { show(result) }
        page.row("resource", "\(record.resourceType) \(record.identifier), FHIR \(record.version)")
        page.row("from", record.sourceURL)
        page.row("last updated", record.lastUpdated)
        // Known dates are in chronological order of their meaning, and the others follow.
        let others = record.dates.keys.filter { !ClinicalRecord.dateNames.contains($0) }.sorted()
        for name in ClinicalRecord.dateNames + others { page.row(name, record.dates[name]) }
        codes(record.codes)
        let references = try RecordNames(store, of: .all).references(of: sample)
        page.table(
            "refers to", [.init("element"), .init("name"), .init("reference"), .init("uuid")],
            references.map { each in
                [
                    each.reference.element, each.name ?? "", each.reference.reference ?? "", each.uuid?.description ?? "",
                ]
            })
        if sample.body?.content != nil { hints.append("'vitalgate show \(sample.identity) --raw' prints the resource") }
    }

    private mutating func show(_ result: ClinicalResult) {
        page.row("result", result.quantity?.text ?? result.words)
        page.row("absent", result.absent)
        for range in result.ranges ?? [] { page.row("range", range.text) }
        page.row("in range", result.isOutside.map { $0 ? "no" : "yes" })
        page.row("interpretation", result.interpretation?.joined(separator: ", "))
        page.row("notes", result.notes?.joined(separator: " "))
        page.table(
            "components", [.init("name"), .init("result"), .init("range"), .init("interpretation")],
            (result.components ?? []).map { component in
                [
                    component.name, component.result.text ?? "",
                    (component.result.ranges ?? []).map(\.text).joined(separator: "; "),
                    (component.result.interpretation ?? []).joined(separator: ", "),
                ]
            })
    }

    mutating func show(_ document: ClinicalDocument, of sample: Sample) {
        page.row("patient", document.patient)
        page.row("custodian", document.custodian)
        page.row("author", document.author)
        page.row(
            "valid",
            document.valid ? "yes, by HL7's schema" : "no: \(document.reason ?? "it does not match HL7's schema")")
        if let content = sample.body?.content {
            page.row("size", Readable.bytes(content.length))
            hints.append("'vitalgate show \(sample.identity) --raw' prints the document")
        }
    }

    mutating func show(_ prescription: VisionPrescription, of sample: Sample) {
        if let expiration = prescription.expiration {
            page.row("expires", moment(expiration, after: sample))
        }
        page.row("brand", prescription.brand)
        if !prescription.attachments.isEmpty {
            page.row("attachments", "\(prescription.attachments.count), which are not exported")
        }
        let rows = VisionPrescription.names.compactMap { name -> [String]? in
            let (left, right) = (prescription.leftEye?[name], prescription.rightEye?[name])
            guard left != nil || right != nil else { return nil }
            return [name, Self.text(left) ?? "", Self.text(right) ?? ""]
        }
        page.table("lenses", [.init(""), .init("left eye", .right), .init("right eye", .right)], rows)
    }

    mutating func show(_ state: StateOfMind, of sample: Sample) {
        page.row("kind", state.kind)
        page.row("valence", "\(Readable.number(sample.value)) from -1 to 1")
        page.row("labels", state.labels.joined(separator: ", "))
        page.row("associations", state.associations.joined(separator: ", "))
    }

    mutating func show(_ event: MedicationDoseEvent, of sample: Sample) {
        page.row("medication", event.medication)
        page.row("status", sample.origin.type.caseName(of: sample.value) ?? Readable.number(sample.value))
        page.row("schedule", event.scheduleType)
        if let scheduled = event.scheduled {
            page.row("scheduled", moment(scheduled, after: sample))
        }
        for (label, dose) in [("dose", event.dose), ("planned dose", event.scheduledDose)] {
            page.row(label, Self.text(dose).map { $0 + (dose?.unit == nil ? event.doseUnit.map { " \($0)" } ?? "" : "") })
        }
        codes(event.codes)
    }

    mutating func show(_ assessment: ScoredAssessment, of sample: Sample) {
        page.row("score", Readable.number(sample.value))
        page.row("risk", assessment.risk)
        let names = sample.origin.type.id == "gad7" ? ObjectValues.gad7Answer : ObjectValues.phq9Answer
        page.table(
            "answers", [.init("question", .right), .init("answer")],
            assessment.answers.enumerated().map { ["\($0 + 1)", names.name(of: $1) ?? "\($1)"] })
    }

    /// Writes codes. Code systems have the names that `--where` accepts, or else their own identifiers.
    private mutating func codes(_ codes: [Coding]) {
        page.table(
            "codes", [.init("system"), .init("code"), .init("display")],
            codes.map { coding in
                [coding.system.map { CodeSystems.name(of: $0) ?? $0 } ?? "", coding.code ?? "", coding.display ?? ""]
            })
    }
}
