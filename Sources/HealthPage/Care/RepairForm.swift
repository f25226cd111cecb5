import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// A repair from the page's form: the selected samples and the change.
struct RepairForm {
    /// The kind of change, by the name in the form.
    enum Kind: String, CaseIterable {
        case unit, scale, shift, zone, type
        case person = "subject"

        /// Whether the repair moves samples in time.
        var movesTimes: Bool { self == .shift || self == .zone }
    }

    let type: SampleType
    /// The source's id, or `nil` for all sources.
    let source: String?
    let kind: Kind
    let repair: Repair
    /// The number of duplicates to merge according to the plan. The repair fails if there are more.
    let merged: Int
    private let takesAmbiguous: Bool
    private let range: (from: Instant?, to: Instant?)
    /// A condition on the values, from a suspicion.
    private let condition: SamplePredicate?
    /// The original fields, for the form that applies the repair.
    private let fields: [(name: String, value: String)]

    private static let names = ["type", "source", "from", "to", "where", "repair", "ambiguous"]
    private static let maximumSourceLength = 1000

    init(_ call: PageCall) throws {
        guard let type = call.text("type").flatMap({ try? SampleType(anyName: $0) }) else {
            throw PageProblem(400, "chooseType")
        }
        guard let kind = call.text("repair").flatMap(Kind.init(rawValue:)) else {
            throw PageProblem(400, "field", "repair")
        }
        guard let by = call.text(Self.field(kind)) else {
            throw PageProblem(400, "repairValue")
        }
        source = call.text("source")
        guard source?.utf8.count ?? 0 <= Self.maximumSourceLength else { throw PageProblem(400, "field", "source") }
        (self.type, self.kind, repair) = (type, kind, try Self.repair(kind, by, of: type, call))
        range = (try Self.instant("from", call), try Self.instant("to", call))
        if let from = range.from, let to = range.to, from >= to {
            throw PageProblem(400, "order")
        }
        do {
            condition = try call.text("where").map { try SamplePredicate($0) }
            try condition?.check(for: [type])
        } catch { throw PageProblem(400, "field", "where") }
        takesAmbiguous = call.text("ambiguous") != nil
        merged = max(call.text("merged").flatMap { Int($0) } ?? 0, 0)
        fields = (Self.names + [Self.field(kind)]).compactMap { name in call.text(name).map { (name, $0) } }
    }

    /// The name of the form field with the repair's parameter.
    static func field(_ kind: Kind) -> String { "by." + kind.rawValue }

    private static func instant(_ name: String, _ call: PageCall) throws -> Instant? {
        guard let text = call.text(name) else { return nil }
        guard let instant = Instant(written: text, now: call.now, zone: call.zone) else {
            throw PageProblem(400, "date")
        }
        return instant
    }

    private static func repair(_ kind: Kind, _ by: String, of type: SampleType, _ call: PageCall) throws -> Repair {
        switch kind {
        case .unit:
            do {
                let unit = try PageValues.unit(typed: by)
                try unit.checkConversion(toOneOf: [type])
                return .unit(unit)
            } catch { throw PageProblem(400, "unit") }
        case .scale:
            guard let factor = (try? Numeral(by)) ?? EntryForm.numeral(by), factor.doubleValue != 0, factor.doubleValue != 1
            else {
                throw PageProblem(400, "factor")
            }
            return .scale(factor)
        case .shift:
            guard let offset = Repair.duration(by) else {
                throw PageProblem(400, "duration")
            }
            return .shift(offset)
        case .zone:
            guard let zone = call.core.settings.zones(by) else {
                throw PageProblem(400, "zone")
            }
            return .zone(zone)
        case .type:
            guard let other = try? SampleType(anyName: by), other.kind == .quantity else {
                throw PageProblem(400, "chooseQuantity")
            }
            return .type(other)
        case .person:
            // Only the keeper may assign a person's data to another person because only the keeper knows both.
            guard call.isOwner else { throw PageProblem(403, "owner") }
            guard try call.ownerReader().store.people.names()[by] != nil else { throw PageProblem(400, "choosePerson") }
            return .person(by)
        }
    }

    /// The request to the store, limited to the session's person.
    func request(_ call: PageCall) throws -> RepairRequest {
        var conditions = SampleConditions(types: [type])
        (conditions.person, conditions.source) = (try call.person().person, source)
        (conditions.from, conditions.to) = range
        conditions.condition = condition
        var request = RepairRequest(repair, of: conditions, takesAmbiguous: takesAmbiguous, now: call.now)
        request.merging = .atMost(merged)
        return request
    }

    /// The form that applies the repair as the plan shows it.
    func html(merging merged: Int, _ call: PageCall) -> HTML { Self.html(fields + [("merged", "\(merged)")], call) }

    static func html(_ fields: [(name: String, value: String)], _ call: PageCall) -> HTML {
        let hidden: [HTML] = fields.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">" }
        return "<form method=\"post\" action=\"/page/care/repair\">\(hidden)<button>\(call.texts("care.apply"))</button></form>"
    }
}
