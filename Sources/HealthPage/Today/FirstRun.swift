import HealthModel

/// Today before the first reading: a sensor nearby, or a file. Both are large choices, and none needs a terminal.
enum FirstRun {
    static func html(_ call: PageCall) -> HTML {
        let texts = call.texts
        let greeting = call.personName.map { texts("first.hello", $0) } ?? texts("first.welcome")
        let lead: HTML = """
            <div class="lead"><h1>\(greeting)</h1><p class="more">\(texts("today.nothing")) \(texts(call.isOwner ? "first.how" : "today.askOwner"))</p></div>
            """
        let file = choice(
            .file, "first.file", "first.fileHow",
            "<a class=\"button\" href=\"/page/\(HTML.choose(call.isOwner, "files", "upload"))\">\(texts("first.choose"))</a>",
            call)
        let add = choice(
            .plus, "first.hand", "first.handHow", "<a class=\"button\" href=\"/page/add\">\(texts("entry.title"))</a>", call)
        guard call.isOwner else { return "\(lead)<ul class=\"steps\">\(file)\(add)</ul>" }
        let near = call.site.hubWork.now.near.filter { !$0.adopted }.count
        let found: HTML = HTML.choose(near > 0, "<p><b>\(texts("first.found", "\(near)"))</b></p>")
        let scan: HTML = """
            \(found)<form method="post" action="/page/devices"><button name="do" value="scan">\(texts("first.scan"))</button></form>
            """
        return """
            \(lead)<ul class="steps">\(choice(.sensor, "first.sensor", "first.sensorHow", scan, call))\(file)</ul>
            <p class="note"><a href="/page/add">\(texts("entry.title"))</a> · <a href="/page/people">\(texts("first.invite"))</a></p>
            """
    }

    private static func choice(_ icon: Icon, _ title: String, _ how: String, _ action: HTML, _ call: PageCall) -> HTML {
        """
        <li class="card step">\(icon.html)<h2>\(call.texts(title))</h2><p>\(call.texts(how))</p>\(action)</li>

        """
    }
}
