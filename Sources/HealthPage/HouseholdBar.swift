import HealthModel
import HealthServing
import SampleStore

/// The top of Today: alerts that are raised, links to what a person can do, and the notes of the day.
enum HouseholdBar {
    private static let links = [
        ("/page/add", "entry.title"), ("/page/notes", "notes.title"), ("/page/goals", "goals.title"),
        ("/page/alerts", "alerts.title"),
        ("/page/report", "report.title"), ("/page/upload", "upload.title"), ("/page/deleted", "deleted.title"),
        ("/page/cards", "cards.title"),
    ]

    static func html(_ call: PageCall) throws -> HTML {
        let texts = call.texts
        let people: [(String, String)] = call.isKeeper ? [("/page/people", "people.title")] : []
        let items: [HTML] = (links + people).map { "<li><a class=\"button\" href=\"\($0.0)\">\(texts($0.1))</a></li>" }
        return """
            \(try AlertsPage.banner(call))
            <ul class="buttons">\(items)</ul>
            \(try NotesPage.today(call))
            """
    }
}
