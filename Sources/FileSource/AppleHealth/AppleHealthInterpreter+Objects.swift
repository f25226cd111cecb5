import HealthModel
import Pipeline

// Elements that are read as a whole.
extension AppleHealthInterpreter {
    /// Returns the meaning of an element that is delivered as a tree.
    @inline(never)
    func meaning(ofElement texts: Texts, at place: Place) throws(Refusal) -> Meaning {
        switch texts.first.map({ String(decoding: $0, as: UTF8.self) }) ?? "" {
        case "ExportDate":
            guard let tree = ExportTree(texts), let moment = try? moment(tree, "value", at: place) else {
                return .other(.notData)
            }
            exported = moment.instant.microseconds / 1_000_000
            return .other(.notData)
        case "Workout":
            let locations = routes.takeInline(at: place)
            routes.workout.removeAll()
            let tree = try tree(texts, "workout", at: place)
            let workout = try workout(tree, locations, at: place)
            let records = tree.children(named: "Record")
            guard !records.isEmpty else { return .reading(workout) }
            var readings = [workout]
            for record in records {
                guard case .reading(let reading) = try meaning(ofRecord: record, at: place) else { continue }
                readings.append(reading)
            }
            return .several(readings)
        case "RouteBegin":
            routes.beginInline(base: texts.count > 1 ? (try? moment(texts[1], "start", at: place))?.instant : nil, at: place)
            return .other(.notData)
        case "Location":
            let time =
                texts.count > GPXRow.time ? (try? moment(texts[GPXRow.time], "date", at: place))?.instant.microseconds : nil
            routes.appendInline(Array(texts), time, at: place, received: received)
            return .other(.notData)
        case "WorkoutRoute":
            guard let route = try routes.route(texts, at: place) else { return .other(.notData) }
            return .reading(route)
        case "FilesEnd":
            try routes.finish()
            return .other(.notData)
        case "Me": return .other(try characteristic(texts, at: place))
        case "HeartbeatSeries": return try heartbeats(texts, at: place)
        case "Audiogram": return .reading(try audiogram(try tree(texts, "audiogram", at: place), at: place))
        case "VisionPrescription":
            return .reading(try prescription(try tree(texts, "vision prescription", at: place), at: place))
        case "ActivitySummary": return .reading(try summary(try tree(texts, "activity summary", at: place), at: place))
        case "Other" where texts.count > 1: return .other(skipped(texts[1]))
        case "Files" where texts.count > 2:
            let kind = names.kind(String(decoding: texts[1], as: UTF8.self))
            leftOut.skipped[kind, default: 0] += Int(String(decoding: texts[2], as: UTF8.self)) ?? 1
            return .other(.notData)
        case let name: return .other(.skipped(names.kind(name)))
        }
    }

    private func tree(_ texts: Texts, _ name: StaticString, at place: Place) throws(Refusal) -> ExportTree {
        guard let tree = ExportTree(texts) else {
            throw Refusal("the \(name) is larger than \(ExportRows.maximumTree >> 20) MiB, or has too many parts", at: place)
        }
        return tree
    }

    private static let workoutType = SampleType("workout")
    private static let summaryType = SampleType("activitySummary")

    // MARK: Workouts

    private func workout(
        _ tree: ExportTree, _ locations: [Result<RouteLocations, Refusal>], at place: Place
    ) throws(Refusal) -> Reading {
        guard let type = Self.workoutType else { throw Refusal("the catalogue has no workouts", at: place) }
        let start = try moment(tree, "startDate", at: place)
        let end = try moment(tree, "endDate", at: place)
        guard let activity = tree["workoutActivityType"] else { throw Refusal("the workout has no activity", at: place) }
        // An unknown activity is quarantined, like an unknown case of a category.
        let number = type.categoryValues?.value(of: activity)
        let ordinal =
            number == nil ? UInt32(truncatingIfNeeded: StableHash.hash(activity)) & 0x7FFF_FFFF : 0
        var workout = Workout(
            duration: try amount(tree, "duration", unit: "durationUnit", of: Workout.second, at: place),
            totalDistance: try amount(tree, "totalDistance", unit: "totalDistanceUnit", of: Self.metre, at: place),
            events: try events(of: tree, start.instant, at: place), statistics: try statistics(of: tree, at: place))
        for (total, id) in Self.totals where !workout.statistics.contains(where: { $0.type == id }) {
            let unit = SampleType(id)?.canonicalUnit
            if let sum = try amount(tree, total, unit: total + "Unit", of: unit, at: place) {
                workout.statistics.append(Workout.Statistics(type: id, sum: sum))
            }
        }
        for activity in tree.children(named: "WorkoutActivity") {
            let begin = try moment(activity, "startDate", at: place)
            workout.activities.append(
                Workout.Activity(
                    uuid: activity["uuid"], start: begin.instant.microseconds &- start.instant.microseconds,
                    end: activity["endDate"] == nil
                        ? nil
                        : try moment(activity, "endDate", at: place).instant.microseconds &- start.instant.microseconds,
                    duration: try amount(activity, "duration", unit: "durationUnit", of: Workout.second, at: place),
                    events: try events(of: activity, start.instant, at: place),
                    statistics: try statistics(of: activity, at: place), metadata: activity.metadata))
        }
        var reading = Reading(
            origin: origin(tree, type), numeral: Numeral(coefficient: Int64(number ?? -1)), unit: .one,
            time: .instants(start: start.instant, end: end.instant, offset: start.offset), ordinal: ordinal,
            metadata: tree.metadata, place: place)
        let identity = SampleIdentity(
            series: reading.origin.seriesKey, start: start.instant.microseconds, end: end.instant.microseconds,
            numeral: reading.numeral, unit: .one, ordinal: ordinal)
        routes.workout = headers(of: tree, identity, start, end, locations, at: place)
        for case .header(let header) in routes.workout { workout.routes.append("\(header.identity)") }
        do throws(Refusal) {
            reading.body = try body(workout, at: place)
        } catch {
            routes.workout.removeAll()
            throw error
        }
        return reading
    }

    /// Returns the routes in a workout's element.
    private func headers(
        of tree: ExportTree, _ workout: SampleIdentity, _ start: ExportTime.Moment, _ end: ExportTime.Moment,
        _ locations: [Result<RouteLocations, Refusal>], at place: Place
    ) -> [ExportRoutes.Entry] {
        var entries: [ExportRoutes.Entry] = []
        var identities: Set<SampleIdentity> = []
        var next = locations[...]
        for route in tree.children(named: "WorkoutRoute") {
            let own = route[String(describing: ExportTree.hasLocations)] == nil ? nil : next.popFirst()
            do throws(Refusal) {
                guard let type = Self.routeType else { throw Refusal("the catalogue has no routes", at: place) }
                let begin = route["startDate"] == nil ? start : try moment(route, "startDate", at: place)
                let finish = route["endDate"] == nil ? end : try moment(route, "endDate", at: place)
                let (metadata, record) = description(route)
                var header = ExportRoutes.Header(
                    origin: origin(route, type), start: begin.instant, end: finish.instant, offset: begin.offset, ordinal: 0,
                    metadata: metadata, record: record, workout: workout, place: place, locations: try own?.get())
                // The order distinguishes routes of one workout that are otherwise equal.
                while record == nil, !identities.insert(header.identity).inserted { header.ordinal += 1 }
                entries.append(.header(header))
            } catch {
                entries.append(.refused(Refusal("route: " + error.reason, at: error.place)))
            }
        }
        return entries
    }

    private static let routeType = SampleType("workoutRoute")

    /// Returns the metadata of the MetadataEntry elements, and the record id if they contain one.
    func description(_ tree: ExportTree) -> (Metadata?, RecordIdentifier?) {
        let entries = tree.children(named: "MetadataEntry")
        func value(_ key: String) -> String? { entries.last { $0["key"] == key }?["value"] }
        guard let identifier = value("HKMetadataKeySyncIdentifier"), let version = value("HKMetadataKeySyncVersion"),
            let number = Int64(version)
        else { return (tree.metadata, nil) }
        var rest = tree
        rest.removeChildren { ["HKMetadataKeySyncIdentifier", "HKMetadataKeySyncVersion"].contains($0["key"] ?? "") }
        return (rest.metadata, RecordIdentifier(id: identifier, version: number))
    }

    /// The totals of old exports, with the types of the statistics that replaced them.
    private static let totals = [("totalEnergyBurned", "activeEnergyBurned")]

    private static let metre = try? Unit(ucum: "m")

    private func events(of tree: ExportTree, _ start: Instant, at place: Place) throws(Refusal) -> [Workout.Event] {
        var events: [Workout.Event] = []
        for event in tree.children(named: "WorkoutEvent") {
            guard let type = event["type"] else { throw Refusal("an event of the workout has no type", at: place) }
            let date = try moment(event, "date", at: place).instant.microseconds &- start.microseconds
            let length = try amount(event, "duration", unit: "durationUnit", of: Workout.second, at: place)
            let seconds = length?.value(in: Workout.second) ?? 0
            guard seconds >= 0, seconds < 1e9 else {
                throw Refusal("an event of the workout has an impossible duration", at: place)
            }
            events.append(
                Workout.Event(
                    type: Workout.eventName(of: type), start: date, end: date &+ Int64((seconds * 1e6).rounded()),
                    metadata: event.metadata))
        }
        return events
    }

    private func statistics(of tree: ExportTree, at place: Place) throws(Refusal) -> [Workout.Statistics] {
        var list: [Workout.Statistics] = []
        for statistics in tree.children(named: "WorkoutStatistics") {
            guard let identifier = statistics["type"] else { throw Refusal("statistics of the workout have no type", at: place) }
            let type = SampleType(identifier)
            let id = type?.id ?? identifier
            guard !list.contains(where: { $0.type == id }) else { continue }
            let unit = type?.canonicalUnit
            list.append(
                Workout.Statistics(
                    type: id, sum: try amount(statistics, "sum", unit: "unit", of: unit, type, at: place),
                    average: try amount(statistics, "average", unit: "unit", of: unit, type, at: place),
                    minimum: try amount(statistics, "minimum", unit: "unit", of: unit, type, at: place),
                    maximum: try amount(statistics, "maximum", unit: "unit", of: unit, type, at: place)))
        }
        return list
    }

    /// Reads a record in a workout like any other record. Apple's exports have none there, but other programs write them.
    private func meaning(ofRecord record: ExportTree, at place: Place) throws(Refusal) -> Meaning {
        var columns = [String](repeating: "", count: ExportColumn.metadata)
        columns[ExportColumn.element] = record.name
        for (name, column) in ExportColumn.names { columns[column] = record.attributes[name] ?? "" }
        for entry in record.children(named: "MetadataEntry") {
            columns += [entry.attributes["key"] ?? "", entry.attributes["value"] ?? ""]
        }
        let bytes = Array(columns.joined().utf8)
        return try bytes.withUnsafeBytes { bytes -> Result<Meaning, Refusal> in
            var start = 0
            let texts = columns.map { column in
                defer { start += column.utf8.count }
                return UnsafeRawBufferPointer(rebasing: bytes[start..<start + column.utf8.count])
            }
            return texts.withUnsafeBufferPointer { texts in
                do throws(Refusal) {
                    return .success(try meaning(of: texts, at: place))
                } catch {
                    return .failure(error)
                }
            }
        }.get()
    }

    // MARK: Rings

    private func summary(_ tree: ExportTree, at place: Place) throws(Refusal) -> Reading {
        guard let type = Self.summaryType else { throw Refusal("the catalogue has no activity summaries", at: place) }
        guard let date = tree["dateComponents"] else { throw Refusal("the activity summary has no date", at: place) }
        guard let day = moment("\(date) 00:00:00 +0000", at: place) else {
            throw Refusal("the activity summary's date is not written as YYYY-MM-DD", at: place)
        }
        var summary = ActivitySummary(date: date)
        // If the unit of the energy is missing, it is not guessed.
        let (energy, minutes) = ("activeEnergyBurnedUnit", SampleType("appleExerciseTime")?.canonicalUnit)
        let kilocalories = SampleType("activeEnergyBurned")?.canonicalUnit
        summary.activeEnergyBurned = try amount(tree, "activeEnergyBurned", unit: energy, of: kilocalories, at: place)
        summary.activeEnergyBurnedGoal = try amount(tree, "activeEnergyBurnedGoal", unit: energy, of: kilocalories, at: place)
        // The minutes of the move ring had another name before iOS 14.
        let isOld = tree["appleMoveTime"] == nil
        summary.moveTime = try amount(tree, isOld ? "appleMoveMinutes" : "appleMoveTime", in: minutes, at: place)
        summary.moveTimeGoal = try amount(tree, isOld ? "appleMoveMinutesGoal" : "appleMoveTimeGoal", in: minutes, at: place)
        summary.exerciseTime = try amount(tree, "appleExerciseTime", in: minutes, at: place)
        summary.exerciseTimeGoal = try amount(tree, "appleExerciseTimeGoal", in: minutes, at: place)
        summary.standHours = try amount(tree, "appleStandHours", in: .one, at: place)
        summary.standHoursGoal = try amount(tree, "appleStandHoursGoal", in: .one, at: place)
        return Reading(
            origin: registry.origin(
                type: type, source: SourceRevision(id: "apple-health", name: "Apple Health", version: nil), device: nil),
            numeral: Numeral(coefficient: 0), unit: .one, time: .instants(start: day.instant, end: day.instant, offset: nil),
            record: RecordIdentifier(id: date, version: exported), body: try body(summary, at: place), place: place)
    }

    // MARK: What stands in an attribute

    func moment(_ tree: ExportTree, _ name: String, at place: Place) throws(Refusal) -> ExportTime.Moment {
        guard let text = tree[name] else { throw Refusal("\(tree.name): \(name) is missing", at: place) }
        guard let moment = moment(text, at: place) else {
            throw Refusal("\(tree.name): \(name) is not written as YYYY-MM-DD HH:MM:SS +HHMM", at: place)
        }
        return moment
    }

    func moment(_ text: String, at place: Place) -> ExportTime.Moment? {
        Array(text.utf8).withUnsafeBytes { try? moment($0, "time", at: place) }
    }

    /// Returns a number with the unit in another attribute, or `nil` if there is no number.
    ///
    /// - Parameter measure: a unit that the number must be convertible to, or `nil` for any.
    func amount(
        _ tree: ExportTree, _ name: String, unit: String, of measure: Unit?, _ type: SampleType? = nil, at place: Place
    ) throws(Refusal) -> Amount? {
        guard let text = tree[name] else { return nil }
        guard let word = tree[unit] else { return Amount(try numeral(text, of: tree, name, at: place), nil) }
        // Some programs write `sec` for durations, where HealthKit writes `s`.
        guard let unit = try? Unit(healthKit: word == "sec" ? "s" : word) else {
            throw Refusal("\(tree.name): the unit of \(name) is unknown", at: place)
        }
        if let measure, (try? (type?.conversion(from: unit) ?? unit.conversion(to: measure))) == nil {
            throw Refusal("\(tree.name): the unit of \(name) measures something else", at: place)
        }
        return Amount(try numeral(text, of: tree, name, at: place), unit)
    }

    /// Returns a number with an implied unit, or `nil` if it is missing.
    private func amount(_ tree: ExportTree, _ name: String, in unit: Unit?, at place: Place) throws(Refusal) -> Amount? {
        guard let text = tree[name] else { return nil }
        return Amount(try numeral(text, of: tree, name, at: place), unit)
    }

    func numeral(_ text: String, of tree: ExportTree, _ name: String, at place: Place) throws(Refusal) -> Numeral {
        guard let numeral = try? Numeral(text) else { throw Refusal("\(tree.name): \(name) is not a number", at: place) }
        return numeral
    }

    func body(_ value: some Encodable, at place: Place) throws(Refusal) -> SampleBody {
        guard let body = try? SampleBody(encoding: value) else { throw Refusal("it cannot be stored", at: place) }
        return body
    }
}
