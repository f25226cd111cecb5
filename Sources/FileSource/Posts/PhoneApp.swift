import HealthModel
import Pipeline

/// An app on a phone that posts health data in its own format. A further app is one more row of ``all``.
package struct PhoneApp: Sendable {
    package struct Post {
        package let source: any FrameSource
        /// Makes readings of the elements.
        package let interpreter: any FrameInterpreter
        /// Checks the whole text. Throws ``SourceError`` if it is cut or malformed.
        package let survey: () throws -> Void

        fileprivate init<Walk>(_ source: PostSource<Walk>, _ interpreter: any FrameInterpreter) {
            (self.source, self.interpreter, survey) = (source, interpreter, source.survey)
        }
    }

    /// The facts about a post that are not in its text.
    package struct Circumstances {
        fileprivate var registry: OriginRegistry
        fileprivate var received: Instant
        fileprivate var grouping: PeriodGrouping?
        fileprivate var zone: TimeZoneRules?
        fileprivate var meter: ReadMeter?

        /// - Parameters:
        ///   - grouping: the length of the periods, or `nil` if the post contains it or it is unknown.
        ///   - zone: the person's zone, for the ends of days.
        package init(
            registry: OriginRegistry, received: Instant, grouping: PeriodGrouping?, zone: TimeZoneRules?, meter: ReadMeter? = nil
        ) {
            (self.registry, self.received, self.meter) = (registry, received, meter)
            (self.grouping, self.zone) = (grouping, zone)
        }
    }

    /// The id of the format in options, paths of the HTTP API, and the ledger.
    package let id: String
    package let name: String
    /// The store of health data on the phone.
    package let store: PhoneStore
    /// Returns the types of the samples that a post can contain. Every command makes the apps for its help, and none of them needs the types.
    package let types: @Sendable () -> [SampleType]
    /// Where to enter the address in the app.
    package let entry: String
    package let advice: String
    /// Whether an open file begins like a post.
    package let recognises: @Sendable (InputFile) -> Bool
    package let open: @Sendable (InputFile, Circumstances) -> Post

    package static let all = [healthAutoExport, hcWebhook]

    package static let healthAutoExport = PhoneApp(
        id: HealthAutoExportInterpreter.source, name: "Health Auto Export", store: .appleHealth,
        types: { HealthAutoExportInterpreter.types },
        entry: "in each automation of the type REST API",
        advice: """
              Format   JSON

            Activity such as steps, energy and distance: an automation with Summarize Data on, and Time Grouping Hours.
            Measurements such as heart rate, weight and sleep: an automation with Summarize Data off.
            Workouts: an automation of their own, Export Version v2.
            Period: Today for frequent exports, and Previous 7 Days once a day for data that arrives late.
            """,
        recognises: HealthAutoExportFile.recognises,
        open: { file, post in
            Post(
                HealthAutoExportFileSource(file, received: post.received, meter: post.meter),
                HealthAutoExportInterpreter(registry: post.registry, grouping: post.grouping, zone: post.zone))
        })

    package static let hcWebhook = PhoneApp(
        id: HealthConnectPostInterpreter.source, name: "HC Webhook", store: .healthConnect,
        types: { HealthConnectPostInterpreter.types },
        entry: "as a webhook with JSON",
        advice: """

            Turn on the metadata of records, so that the hub knows which app and device wrote them.
            """,
        recognises: HealthConnectPostFile.recognises,
        open: { file, post in
            Post(
                HealthConnectPostSource(file, received: post.received, meter: post.meter),
                HealthConnectPostInterpreter(registry: post.registry))
        })
}

extension PhoneApp {
    /// The purpose of a phone's client, as shown to people.
    package var purpose: String { "Posts of \(name)" }

    /// Finds the app with an id. The result is `nil` if the id is unknown.
    package init?(id: String?) {
        guard let app = Self.all.first(where: { $0.id == id }) else { return nil }
        self = app
    }
}
