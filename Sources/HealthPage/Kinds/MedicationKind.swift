import HealthAnswers
import HealthModel
import HealthServing
import SampleStore

/// A person's medications with their doses of the last month, and a single dose.
enum MedicationKind {
    private static let month: Int64 = 30 * 86_400_000_000

    static func html(_ sample: Sample, _ call: PageCall) -> HTML {
        guard let dose = try? sample.body?.decoded(as: MedicationDoseEvent.self) else { return "" }
        let texts = call.texts
        let scheduled = dose.scheduled.map { call.times.text(Instant(microseconds: sample.start.microseconds + $0)) }
        return KindPage.facts([
            (texts("medication.name"), dose.medication), (texts("medication.dose"), amount(dose.dose, dose, call)),
            (texts("medication.planned"), amount(dose.scheduledDose, dose, call)), (texts("medication.scheduled"), scheduled),
            (texts("medication.schedule"), dose.scheduleType.map { texts.name(of: $0, in: .schedule) }),
        ])
    }

    private static func amount(_ amount: Amount?, _ dose: MedicationDoseEvent, _ call: PageCall) -> String? {
        amount.map {
            let unit = $0.unit.map { call.values.symbol($0) } ?? dose.doseUnit.map { call.texts["form." + $0] ?? $0 }
            return CardFacts.joined(PageValues.local($0.numeral.text), unit ?? "")
        }
    }

    static func list(_ reader: Reader, _ call: PageCall) throws -> HTML {
        let (texts, person) = (call.texts, try call.person().person)
        let all = try MedicationReading.all(
            of: person, from: Instant(microseconds: call.now.microseconds - month), recorded: call.records().medications(),
            doses: reader.store)
        let rows: [[HTML]] = all.map { each in
            let known = each.medication
            let name = known?.nickname.map { "\(each.name) (\($0))" } ?? each.name
            let counts = each.counts.sorted { $0.key < $1.key }.map { "\(texts.caseName($0.key)): \($0.value)" }
            let use = known.map {
                $0.isArchived ? "medication.archived" : $0.hasSchedule ? "medication.regular" : "medication.asNeeded"
            }
            return [
                KindPage.cell(name), KindPage.cell(known.map { texts.name(of: $0.generalForm.rawValue, in: .form) } ?? ""),
                KindPage.cell(use.map { texts($0) } ?? ""), KindPage.cell(counts.joined(separator: ", ")),
                each.doses.first.map { call.times.element($0.start) } ?? "–",
            ]
        }
        let heads = ["medication.name", "medication.form", "medication.use", "medication.month", "medication.last"].map {
            texts($0)
        }
        return KindPage.table("medications", texts("medication.all"), heads, rows)
    }
}
