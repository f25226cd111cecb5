import HealthModel

/// Names of values in the catalogue, sources, and states.
extension PageTexts {
    /// A list of values that an object can contain. English names are made from the values themselves.
    enum ValueList: String, CaseIterable {
        case mood, moodKind, topic, risk, schedule, form, resource

        var values: [String] {
            switch self {
            case .mood: ObjectValues.stateOfMindLabel.cases.map(\.name)
            case .moodKind: ObjectValues.stateOfMindKind.cases.map(\.name)
            case .topic: ObjectValues.stateOfMindAssociation.cases.map(\.name)
            case .risk: (ObjectValues.phq9Risk.cases + ObjectValues.gad7Risk.cases).map(\.name)
            case .schedule: ObjectValues.medicationScheduleType.cases.map(\.name)
            case .form: MedicationGeneralForm.allCases.map(\.rawValue)
            case .resource: Self.resources
            }
        }

        /// The types of resources in the clinical records of the Health app.
        private static let resources =
            [
                "AllergyIntolerance", "Condition", "Coverage", "DiagnosticReport", "DocumentReference", "Immunization",
                "MedicationDispense", "MedicationOrder", "MedicationRequest", "MedicationStatement", "Observation", "Procedure",
            ] + ClinicalRecord.referencedResources.sorted()
    }

    func name(of type: SampleType) -> String { self["type." + type.id] ?? type.displayName }

    /// The name of a value, such as `Calm` for the mood `calm`.
    func name(of value: String, in list: ValueList) -> String { self["\(list).\(value)"] ?? PageValues.words(value) }

    /// The name of a category's case, such as `Deep sleep` for `asleepDeep`.
    func caseName(_ name: String) -> String { self["case." + name] ?? PageValues.words(name) }

    /// The name of a source. Names of people's own devices and of products are the same in all languages.
    func source(_ id: String, name: String = "") -> String {
        if id.hasPrefix("simulation."), let own = self["source.simulation"] {
            return own + " " + source(String(id.dropFirst("simulation.".count)))
        }
        if let own = self["source." + id] { return own }
        if let prefix = ["ble.", "serial.", "file."].first(where: { id.hasPrefix($0) }) {
            let profile = String(id.dropFirst(prefix.count))
            if let own = self["profile." + profile] ?? self["profile.sig-" + profile] { return own }
        }
        let name = SourceRevision.displayName(ofID: id, name: name)
        return translation(of: name) ?? name
    }

    /// The name of a device profile, such as `Heart rate` for `sig-heart-rate`.
    func profile(_ id: String) -> String {
        if let own = self["profile." + id] { return own }
        let words = (id.hasPrefix("sig-") ? id.dropFirst(4) : id[...]).split(separator: "-").joined(separator: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// The name of a person. The store has names for its owner and for readings without a person.
    func person(_ name: String) -> String { ["me", "unassigned"].contains(name) ? self("people." + name) : name }

    /// The name of a device. Those of simulated devices are in the page's language.
    func device(_ name: String) -> String { self["device." + name] ?? name }

    /// A value in a sentence of the program, which can be a place, a type, a unit, or a source.
    func shown(_ value: String) -> String {
        if let type = SampleType(value), type.isKnown { return name(of: type) }
        if ["ble.", "serial.", "file."].contains(where: { value.hasPrefix($0) }) { return source(value) }
        if value.contains(where: \.isLetter), let symbol = self["unit." + value], !symbol.isEmpty { return symbol }
        return place(value)
    }

    /// The place of a frame, such as `line 4`.
    ///
    /// - Parameter text: The kind and the number, as in `Place`.
    func place(_ text: String) -> String {
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2, self["place." + parts[0]] != nil else { return text }
        return self("place." + parts[0], parts[1])
    }

    /// The name of what an import skipped. Names from files are marked as English.
    func skip(_ kind: String) -> HTML {
        if let name = self["skip." + kind] { return "\(name)" }
        return language == "en" ? "\(kind)" : "<span lang=\"en\">\(kind)</span>"
    }

    /// The name of a ledger entry: that of its file or device, or the operation.
    func entry(_ account: IngestAccount) -> String {
        guard let name = account.name else { return self("ledger.kind." + account.kind.rawValue) }
        if account.isEnteredByHand, let words = self["ledger.name." + name] { return words }
        // People and devices named these.
        if [.import, .live].contains(account.kind) { return name }
        return translation(of: name) ?? name
    }

    /// A state of a ledger entry or of a device, with the key's beginning. Unknown states are shown as they are.
    func state(_ state: String, of prefix: String) -> String { self[prefix + state] ?? state }

    /// The description of a repair by its stored text, such as `Read as °F` for `unit [degF]`.
    func repair(_ text: String, _ values: PageValues, people: [String: String]) -> String {
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.first == "complete" || parts.count == 2, self["repair." + parts[0]] != nil else { return text }
        let parameter = parts.count > 1 ? parts[1] : ""
        let shown =
            switch parts[0] {
            case "unit": (try? Unit(ucum: parameter)).map { values.symbol($0) } ?? parameter
            case "scale": (try? Numeral(parameter)).map { PageValues.text($0.doubleValue) } ?? parameter
            case "shift": Int64(parameter).map { Repair.duration($0) } ?? parameter
            case "subject": people[parameter] ?? parameter
            case "type": SampleType(parameter).map { values.name(of: $0) } ?? parameter
            default: parameter
            }
        return self("repair." + parts[0], shown)
    }
}

extension IngestAccount {
    /// Whether a person typed or corrected the readings (`HandEntry`). A file has a profile.
    var isEnteredByHand: Bool { kind == .import && profile == nil && ["add", "correction"].contains(name) }
}
