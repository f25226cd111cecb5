import HealthModel
import SampleStore

/// A query for the locations of a workout's route, like HealthKit's `HKWorkoutRouteQueryDescriptor`.
public struct WorkoutRouteQueryDescriptor: Sendable {
    /// The route's UUID. ``routes(of:)`` finds the routes of a workout.
    public var route: SampleIdentity

    /// Creates a query for a route's locations.
    public init(route: SampleIdentity) { self.route = route }

    /// A predicate for the routes of a workout, for use with ``SampleQueryDescriptor``.
    public static func routes(of workout: SampleIdentity) -> SamplePredicate {
        var conditions: [SamplePredicate] = [.types([.workoutRoute])]
        if let field = ObjectField(named: "workout") {
            conditions.append(.comparison(.object(field), .equal, .text(workout.description)))
        }
        return .and(conditions)
    }

    /// The locations in the order of the route. Points without coordinates are left out.
    public func results(for store: HealthStore) -> PointSequence<WorkoutLocation> {
        PointSequence(store: store, uuid: route) { sample in
            let (body, content) = try sample.content(of: .workoutRoute)
            return PointSequence.Source(
                points: try body.decoded(as: WorkoutRoute.self).points, content: content, start: sample.start,
                element: { point, _ in WorkoutLocation(point) })
        }
    }
}

/// A query for the beats of a heartbeat series, like HealthKit's `HKHeartbeatSeriesQueryDescriptor`.
public struct HeartbeatSeriesQueryDescriptor: Sendable {
    /// The UUID of the series.
    public var series: SampleIdentity

    /// Creates a query for the beats of a series.
    public init(series: SampleIdentity) { self.series = series }

    /// The beats in order.
    public func results(for store: HealthStore) -> PointSequence<Heartbeat> {
        PointSequence(store: store, uuid: series) { sample in
            let (body, content) = try sample.content(of: .heartbeatSeries)
            return PointSequence.Source(
                points: try body.decoded(as: HeartbeatSeries.self).points, content: content, start: sample.start,
                element: { point, _ in Heartbeat(point) })
        }
    }
}

/// A query for the voltages of an electrocardiogram, like HealthKit's `HKElectrocardiogramQueryDescriptor`.
public struct ElectrocardiogramQueryDescriptor: Sendable {
    /// The UUID of the electrocardiogram.
    public var electrocardiogram: SampleIdentity

    /// Creates a query for the voltages of a recording.
    public init(electrocardiogram: SampleIdentity) { self.electrocardiogram = electrocardiogram }

    /// The voltages in order.
    public func results(for store: HealthStore) -> PointSequence<VoltageMeasurement> {
        PointSequence(store: store, uuid: electrocardiogram) { sample in
            let (body, content) = try sample.content(of: .electrocardiogram)
            let recording = try body.decoded(as: Electrocardiogram.self)
            let hertz = recording.samplingFrequency?.value(in: try Unit(ucum: "Hz"))
            let microvolt = try Unit(ucum: "uV")
            var leads: [(name: String, conversion: UnitConversion)] = []
            for column in recording.points.columns where column.name != Points.time {
                guard let unit = column.unit.flatMap({ try? Unit(ucum: $0) }) else { continue }
                leads.append((column.name, try unit.conversion(to: microvolt)))
            }
            let all = leads
            return PointSequence.Source(points: recording.points, content: content, start: sample.start) { point, index in
                var microvolts: [String: Double] = [:]
                for lead in all { microvolts[lead.name] = point[lead.name].map { lead.conversion($0) } }
                let seconds = hertz.flatMap { $0 > 0 ? Double(index) / $0 : nil }
                return VoltageMeasurement(timeSinceStart: seconds, microvolts: microvolts)
            }
        }
    }
}
