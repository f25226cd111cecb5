/// All routes, in the order of the document.
enum RouteTable {
    static let all: [Route] = [
        SampleRoutes.samples, SaveRoutes.save, IntakeRoutes.post, SampleRoutes.sample, SaveRoutes.delete, SampleRoutes.raw,
        SampleRoutes.latest,
        StatisticsRoute.statistics, OriginRoutes.types,
        OriginRoutes.sources, OriginRoutes.devices, PersonRoutes.summaries, PersonRoutes.characteristics, ChangeRoutes.changes,
        ChangeRoutes.stream, WriteBackRoutes.items, WriteBackRoutes.report,
        AuthorizationRoutes.request, AuthorizationRoutes.status, document,
    ]

    private static let document = Route(
        method: "GET", path: "/openapi.json", name: "document", summary: "Get this document.", right: .none, answers: [.json],
        answer: { _ in HTTPDocument.response })
}
