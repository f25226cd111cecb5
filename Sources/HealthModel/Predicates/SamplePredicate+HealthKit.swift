/// Conditions with the names of HealthKit's `HKQuery`.
///
///     .predicateForSamples(withStart: yesterday, end: today, options: .strictStartDate)
///     .predicateForQuantitySamples(with: .above, quantity: Numeral("38"), unit: Unit(ucum: "Cel"))
///
/// Source: <https://developer.apple.com/documentation/healthkit/hkquery>.
extension SamplePredicate {
    /// The relation of a sample's time to an interval (`HKQueryOptions`). Without options, the two must overlap.
    public struct TimeOptions: OptionSet, Hashable, Sendable {
        public let rawValue: Int
        /// The options for HealthKit's raw value.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// The sample's start is in the interval, which excludes its end.
        public static let strictStartDate = TimeOptions(rawValue: 1)
        /// The sample's end is in the interval, which excludes its end.
        public static let strictEndDate = TimeOptions(rawValue: 2)
    }

    // MARK: Samples and objects

    /// Samples in an interval, which is unbounded on a missing side.
    ///
    /// Without options, a sample must overlap the interval: it starts before `end`, and ends at `start` or later.
    public static func predicateForSamples(
        withStart start: Instant?, end: Instant?, options: TimeOptions = []
    ) -> SamplePredicate {
        if options.isEmpty {
            return .and(
                [start.map { .comparison(.end, .atLeast, .instant($0)) }, end.map { .comparison(.start, .below, .instant($0)) }]
                    .compactMap { $0 })
        }
        var parts: [SamplePredicate] = []
        if options.contains(.strictStartDate) { parts.append(interval(.start, start, end)) }
        if options.contains(.strictEndDate) { parts.append(interval(.end, start, end)) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    /// The sample with this UUID.
    public static func predicateForObject(with uuid: SampleIdentity) -> SamplePredicate { .uuids([uuid]) }

    /// The samples with these UUIDs.
    public static func predicateForObjects(with uuids: Set<SampleIdentity>) -> SamplePredicate { .uuids(uuids) }

    /// Samples from sources with these ids.
    public static func predicateForObjects(fromSources ids: Set<String>) -> SamplePredicate {
        anyOf(ids.sorted().map { .comparison(.source(.id), .equal, .text($0)) })
    }

    /// Samples from these sources in these versions. A missing version matches only an unknown one.
    public static func predicateForObjects(fromSourceRevisions revisions: Set<SourceRevision>) -> SamplePredicate {
        anyOf(
            revisions.sorted { ($0.id, $0.version ?? "") < ($1.id, $1.version ?? "") }.map { revision in
                .and([
                    .comparison(.source(.id), .equal, .text(revision.id)),
                    equal(.source(.version), revision.version),
                ])
            })
    }

    /// Samples from these devices. All properties must be equal, and missing ones must be missing.
    public static func predicateForObjects(fromDevices devices: Set<Device>) -> SamplePredicate {
        anyOf(
            devices.sorted { $0.key < $1.key }.map { device in
                .and([
                    equal(.device(.key), device.key), equal(.device(.name), device.name),
                    equal(.device(.manufacturer), device.manufacturer), equal(.device(.model), device.model),
                    equal(.device(.serial), device.serial), equal(.device(.hardware), device.hardware),
                    equal(.device(.firmware), device.firmware), equal(.device(.software), device.software),
                    equal(.device(.udi), device.udi),
                ])
            })
    }

    /// Samples whose device has one of these values, or no value if the set is empty.
    public static func predicateForObjects(
        withDeviceProperty property: DeviceProperty, allowedValues: Set<String>
    ) -> SamplePredicate {
        if allowedValues.isEmpty {
            return .and([
                .comparison(.device(.key), .equal, .present), .comparison(.device(property), .notEqual, .present),
            ])
        }
        return anyOf(allowedValues.sorted().map { .comparison(.device(property), .equal, .text($0)) })
    }

    /// Samples with metadata under a key, given by our name or HealthKit's string.
    public static func predicateForObjects(withMetadataKey key: String) -> SamplePredicate {
        .comparison(metadata(key), .equal, .present)
    }

    /// Samples with one of these values under a metadata key.
    public static func predicateForObjects(withMetadataKey key: String, allowedValues: [MetadataValue]) -> SamplePredicate {
        anyOf(allowedValues.map { predicateForObjects(withMetadataKey: key, operatorType: .equal, value: $0) })
    }

    /// Samples whose value under a metadata key compares this way to a value.
    public static func predicateForObjects(
        withMetadataKey key: String, operatorType: Comparison, value: MetadataValue
    ) -> SamplePredicate {
        .comparison(metadata(key), operatorType, literal(of: value))
    }

    /// Samples that belong to no correlation.
    public static func predicateForObjectsWithNoCorrelation() -> SamplePredicate {
        .comparison(.inCorrelation, .notEqual, .present)
    }

    /// Samples that belong to some correlation.
    public static func predicateForObjectsWithCorrelation() -> SamplePredicate { .comparison(.inCorrelation, .equal, .present) }

    /// Samples that belong to a correlation.
    public static func predicateForObjects(fromCorrelation uuid: SampleIdentity) -> SamplePredicate {
        .comparison(.inCorrelation, .equal, .text(uuid.description))
    }

    /// Samples recorded during a workout, with the same person and source, and its routes.
    public static func predicateForObjects(fromWorkout uuid: SampleIdentity) -> SamplePredicate {
        .comparison(.fromWorkout, .equal, .text(uuid.description))
    }

    // MARK: Quantities and categories

    /// Quantities that compare this way to a quantity. Types that cannot be converted to its unit never match.
    public static func predicateForQuantitySamples(
        with operatorType: Comparison, quantity: Numeral, unit: Unit
    ) -> SamplePredicate {
        .and([
            .comparison(.kind, .equal, .text(SampleKind.quantity.name)),
            .comparison(.value, operatorType, .number(quantity, unit)),
        ])
    }

    /// Categories whose raw value compares this way to a number.
    public static func predicateForCategorySamples(with operatorType: Comparison, value: Int) -> SamplePredicate {
        .and([
            .comparison(.kind, .equal, .text(SampleKind.category.name)),
            .comparison(.value, operatorType, .number(Numeral(coefficient: Int64(value)), nil)),
        ])
    }

    /// Categories with one of these raw values.
    public static func predicateForCategorySamples(equalTo values: Set<Int>) -> SamplePredicate {
        anyOf(values.sorted().map { predicateForCategorySamples(with: .equal, value: $0) })
    }

    // MARK: Workouts

    /// Workouts with an activity, by its name (`running`).
    public static func predicateForWorkouts(with activity: String) -> SamplePredicate {
        object("activity", .equal, .text(activity))
    }

    /// Workouts whose duration without pauses compares this way, in seconds.
    public static func predicateForWorkouts(with operatorType: Comparison, duration seconds: Numeral) -> SamplePredicate {
        .and([
            .comparison(.kind, .equal, .text(SampleKind.workout.name)),
            .comparison(.duration, operatorType, .number(seconds, nil)),
        ])
    }

    /// Workouts whose active energy compares this way.
    public static func predicateForWorkouts(
        with operatorType: Comparison, totalEnergyBurned: Numeral, unit: Unit
    ) -> SamplePredicate {
        object("statistics.activeEnergyBurned.sum", operatorType, .number(totalEnergyBurned, unit))
    }

    /// Workouts whose distance of any kind compares this way.
    public static func predicateForWorkouts(
        with operatorType: Comparison, totalDistance: Numeral, unit: Unit
    ) -> SamplePredicate {
        let kinds = SampleType.all.filter { $0.kind == .quantity && $0.id.hasPrefix("distance") }
        return anyOf(
            [object("totalDistance", operatorType, .number(totalDistance, unit))]
                + kinds.map {
                    predicateForWorkouts(with: operatorType, quantityType: $0, sumQuantity: totalDistance, unit: unit)
                })
    }

    /// Workouts whose number of swimming strokes compares this way.
    public static func predicateForWorkouts(
        with operatorType: Comparison, totalSwimmingStrokeCount count: Numeral
    ) -> SamplePredicate {
        object("statistics.swimmingStrokeCount.sum", operatorType, .number(count, nil))
    }

    /// Workouts whose number of flights of stairs compares this way.
    public static func predicateForWorkouts(
        with operatorType: Comparison, totalFlightsClimbed count: Numeral
    ) -> SamplePredicate {
        object("statistics.flightsClimbed.sum", operatorType, .number(count, nil))
    }

    /// Workouts whose sum of a type compares this way.
    public static func predicateForWorkouts(
        with operatorType: Comparison, quantityType: SampleType, sumQuantity: Numeral, unit: Unit
    ) -> SamplePredicate {
        object("statistics.\(quantityType.id).sum", operatorType, .number(sumQuantity, unit))
    }

    /// Workouts whose average of a type compares this way.
    public static func predicateForWorkouts(
        with operatorType: Comparison, quantityType: SampleType, averageQuantity: Numeral, unit: Unit
    ) -> SamplePredicate {
        object("statistics.\(quantityType.id).average", operatorType, .number(averageQuantity, unit))
    }

    /// Workouts whose minimum of a type compares this way.
    public static func predicateForWorkouts(
        with operatorType: Comparison, quantityType: SampleType, minimumQuantity: Numeral, unit: Unit
    ) -> SamplePredicate {
        object("statistics.\(quantityType.id).minimum", operatorType, .number(minimumQuantity, unit))
    }

    /// Workouts whose maximum of a type compares this way.
    public static func predicateForWorkouts(
        with operatorType: Comparison, quantityType: SampleType, maximumQuantity: Numeral, unit: Unit
    ) -> SamplePredicate {
        object("statistics.\(quantityType.id).maximum", operatorType, .number(maximumQuantity, unit))
    }

    // MARK: Other objects

    /// Activity summaries of a day (`2026-11-20`), a month or a year.
    public static func predicateForActivitySummary(with day: PartialDate) -> SamplePredicate {
        object("date", .equal, .date(day))
    }

    /// Activity summaries from one day to another, both included.
    public static func predicate(forActivitySummariesBetweenStart start: PartialDate, end: PartialDate) -> SamplePredicate {
        .and([object("date", .atLeast, .date(start)), object("date", .atMost, .date(end))])
    }

    /// Clinical records with a resource type (`Immunization`).
    public static func predicateForClinicalRecords(withFHIRResourceType resourceType: String) -> SamplePredicate {
        object("fhir.resourceType", .equal, .text(resourceType))
    }

    /// The clinical record with this identifier at its source.
    public static func predicateForClinicalRecords(
        from source: String, fhirResourceType: String, identifier: String
    ) -> SamplePredicate {
        .and([
            .comparison(.source(.id), .equal, .text(source)), object("fhir.resourceType", .equal, .text(fhirResourceType)),
            object("fhir.identifier", .equal, .text(identifier)),
        ])
    }

    /// A property of a document in the Clinical Document Architecture (`HKPredicateKeyPathCDATitle` and others).
    public enum DocumentProperty: String, Sendable, CaseIterable { case title, patient, custodian, author }

    /// Documents whose property compares this way to a text.
    public static func predicateForDocuments(
        with property: DocumentProperty, operatorType: Comparison, value: String
    ) -> SamplePredicate { object(property.rawValue, operatorType, .text(value)) }

    /// Electrocardiograms with a classification, by its name (`sinusRhythm`).
    public static func predicateForElectrocardiograms(classification: String) -> SamplePredicate {
        object("classification", .equal, .text(classification))
    }

    /// Electrocardiograms by the name of their symptoms status.
    public static func predicateForElectrocardiograms(symptomsStatus: String) -> SamplePredicate {
        object("symptomsStatus", .equal, .text(symptomsStatus))
    }

    /// States of mind whose valence, from -1 to 1, compares this way.
    public static func predicateForStatesOfMind(withValence valence: Numeral, operatorType: Comparison) -> SamplePredicate {
        object("valence", operatorType, .number(valence, nil))
    }

    /// States of mind with a label, by its name.
    public static func predicateForStatesOfMind(with label: String) -> SamplePredicate { object("label", .equal, .text(label)) }

    // MARK: Parts

    private static func anyOf(_ parts: [SamplePredicate]) -> SamplePredicate { parts.count == 1 ? parts[0] : .or(parts) }

    /// The field is equal to a text, or missing if the text is `nil`.
    private static func equal(_ field: Field, _ text: String?) -> SamplePredicate {
        text.map { .comparison(field, .equal, .text($0)) } ?? .comparison(field, .notEqual, .present)
    }

    /// A comparison of an object's field. An unknown name matches nothing.
    private static func object(_ name: String, _ comparison: Comparison, _ literal: Literal) -> SamplePredicate {
        ObjectField(named: name).map { .comparison(.object($0), comparison, literal) } ?? .or([])
    }

    private static func metadata(_ key: String) -> Field { .metadata(MetadataKey(rawKey: key)?.name ?? key) }

    private static func literal(of value: MetadataValue) -> Literal {
        switch value {
        case .string(let text): .any(text, try? Numeral(text), nil)
        case .number(let numeral): .any(numeral.text, numeral, nil)
        case .boolean(let isTrue): .any(isTrue ? "true" : "false", nil, nil)
        case .quantity(let numeral, let unit): .any(numeral.text, numeral, unit)
        }
    }
}
