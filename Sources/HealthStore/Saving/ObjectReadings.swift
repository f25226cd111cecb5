import HealthModel
import Pipeline

/// Converts saved objects to readings and processes them like all readings: times, units, identity, plausibility gate.
struct ObjectReadings {
    let source: SourceRevision
    let person: String
    let zone: TimeZoneRules
    let received: Instant
    /// A map from the key that a device reports to its key in the store.
    let aliases: [String: String]

    /// The samples of one object: its own sample, and those of its parts.
    struct Made {
        var parts: [GatedSample] = []
        var own: GatedSample
        var all: [GatedSample] { parts + [own] }
    }

    /// The maximum number of objects in a correlation.
    private static let maximumObjects = 1000

    /// Returns the samples of an object.
    ///
    /// - Throws: ``HealthStoreError/refused(object:reason:)`` if the object cannot be stored.
    func made(of object: HealthObject, at index: Int) throws(HealthStoreError) -> Made {
        do {
            return try made(of: object)
        } catch let error as HealthStoreError {
            throw error
        } catch let refusal as Refusal {
            throw .refused(object: index, reason: refusal.reason)
        } catch {
            throw .refused(object: index, reason: "\(object.type.id): \(error)")
        }
    }

    private func made(of object: HealthObject) throws -> Made {
        switch object.content {
        case .number(let amount):
            guard [.quantity, .category].contains(object.type.kind) else { throw otherKind(object) }
            return Made(own: try sample(of: object, amount.numeral, amount.unit ?? .one))
        case .objects(let objects): return try correlation(object, objects)
        case .workout(let activity, let workout, let routes): return try self.workout(object, activity, workout, routes)
        case .body(let number, let body):
            guard ![.quantity, .category, .correlation, .workout].contains(object.type.kind) else { throw otherKind(object) }
            return Made(own: try sample(of: object, number, .one, body: try body(object.start)))
        }
    }

    private func otherKind(_ object: HealthObject) -> Refusal {
        Refusal("\(object.type.id) is a \(object.type.kind.name), and is saved as one", at: Self.place)
    }

    // MARK: Objects of several samples

    private func correlation(_ object: HealthObject, _ objects: [HealthObject]) throws -> Made {
        guard object.type.kind == .correlation else { throw otherKind(object) }
        guard (1...Self.maximumObjects).contains(objects.count) else {
            throw Refusal("a correlation has from 1 to \(Self.maximumObjects) objects", at: Self.place)
        }
        var readings: [Reading] = []
        for part in objects {
            guard case .number(let amount) = part.content, [.quantity, .category].contains(part.type.kind) else {
                throw Refusal("a correlation has quantities and categories, and nothing else", at: Self.place)
            }
            var part = part
            (part.device, part.person) = (part.device ?? object.device, object.person)
            var reading = try reading(of: part, amount.numeral, amount.unit ?? .one)
            // The objects form a group, like the two pressures in a cuff's frame.
            reading.group = .frame
            // Two equal objects get different ordinals, so that they remain two.
            reading.ordinal = UInt32(readings.count { $0.isTwin(of: reading) })
            readings.append(reading)
        }
        let parts = try samples(of: readings)
        let body = try SampleBody(encoding: Correlation(objects: parts.map(\.sample.identity)))
        return Made(parts: parts, own: try sample(of: object, Numeral(coefficient: 0), .one, body: body))
    }

    private func workout(
        _ object: HealthObject, _ activity: String, _ workout: Workout, _ routes: [[WorkoutLocation]]
    ) throws -> Made {
        guard let number = object.type.categoryValues?.value(of: activity) else {
            throw Refusal("there is no activity of this name", at: Self.place)
        }
        // The workout's identity does not depend on its body, so that the workout and its routes can refer to each other.
        var own = try sample(of: object, Numeral(coefficient: Int64(number)), .one)
        var (parts, workout): ([GatedSample], Workout) = ([], workout)
        for locations in routes where !locations.isEmpty {
            let times = locations.compactMap(\.time)
            var route = HealthObject(
                .workoutRoute, times.min() ?? object.start, times.max() ?? object.end, object.device, [:], object.content)
            (route.person, route.offset) = (object.person, object.offset)
            var writer = PointsWriter(columns: WorkoutRoute.columns)
            for location in locations { try writer.append(try location.numbers(after: route.start)) }
            let (points, content) = try writer.end()
            let body = try SampleBody(
                encoding: WorkoutRoute(points: points, workout: "\(own.sample.identity)"), content: content)
            let part = try sample(of: route, Numeral(coefficient: 0), .one, body: body)
            workout.routes.append("\(part.sample.identity)")
            parts.append(part)
        }
        own.sample.body = try SampleBody(encoding: workout)
        return Made(parts: parts, own: own)
    }

    // MARK: One sample

    private static let place = Place(.record, 1)

    private func sample(
        of object: HealthObject, _ numeral: Numeral, _ unit: Unit, body: SampleBody? = nil
    ) throws -> GatedSample {
        let samples = try samples(of: [try reading(of: object, numeral, unit, body)])
        guard let first = samples.first else { throw Refusal("it is not a sample", at: Self.place) }
        return first
    }

    private func samples(of readings: [Reading]) throws(Refusal) -> [GatedSample] {
        try ReadingPath.samples(of: readings, zone: zone, received: received)
    }

    private func reading(
        of object: HealthObject, _ numeral: Numeral, _ unit: Unit, _ body: SampleBody? = nil
    ) throws(Refusal) -> Reading {
        var device = object.device
        if let key = device?.key { device?.key = aliases[key] ?? key }
        let (metadata, record) = try description(of: object)
        // Objects without a meaningful number are distinguished by the digest of their body.
        let mark = body.map { $0.digest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF }
        return Reading(
            origin: Origin(person: object.person ?? person, type: object.type, source: source, device: device),
            numeral: numeral, unit: unit,
            time: .instants(start: object.start, end: object.end, offset: object.offset ?? zone.offset(at: object.start)),
            ordinal: mark ?? 0, metadata: metadata, record: record, body: body, place: Self.place)
    }

    /// The metadata under Vitalgate's key names, and the record identifier, if there is one.
    private func description(of object: HealthObject) throws(Refusal) -> (Metadata?, RecordIdentifier?) {
        guard !object.metadata.isEmpty else { return (nil, nil) }
        // If a key is given under both names, Vitalgate's name wins.
        let description = object.metadata.sorted { $0.key < $1.key }.map {
            (MetadataKey(rawKey: $0.key)?.name ?? $0.key, $0.value)
        }
        let metadata = Metadata(description)
        do throws(UnpairedSyncKey) {
            let (record, rest) = try RecordIdentifier.taken(from: metadata)
            return (rest.isEmpty ? nil : rest, record)
        } catch {
            throw Refusal(error.description, at: Self.place)
        }
    }
}

extension Reading {
    /// Whether the other reading has the same identity except for the ordinal.
    fileprivate func isTwin(of other: Reading) -> Bool {
        origin == other.origin && time == other.time && unit.code == other.unit.code
            && numeral.canonicalText == other.numeral.canonicalText
    }
}
