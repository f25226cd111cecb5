import HTTPServerKit
import HealthModel
import HealthServing
import SampleStore

/// The login page. It accepts a one-time code from `vitalgate page open`.
enum LoginPage {
    static let routes = [
        PageRoute(method: "GET", path: "login", right: .none, answer: form),
        PageRoute(method: "POST", path: "login", right: .none, body: 4096, answer: login),
        PageRoute(method: "POST", path: "logout", answer: logout),
    ]

    /// The login form. The script sends the code from the link's fragment, after the `#`, which browsers never send to a server and
    /// which appears in no log.
    static func answer(_ call: PageCall, status: Int, failed: Bool = false) -> HTTPResponse {
        let texts = call.texts
        let failure: HTML = failed ? "<p class=\"problem\" role=\"alert\">\(texts("login.failed"))</p>" : ""
        let body: HTML = """
            <h1>\(texts("login.title"))</h1>
            <p>\(texts("login.how"))</p>
            <pre><code>vitalgate page open</code></pre>
            \(failure)
            <form method="post" action="/page/login" id="login">
            <label for="code">\(texts("login.code"))</label>
            <input id="code" name="code" required autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" maxlength="64">
            <button>\(texts("login.enter"))</button>
            </form>
            """
        return .page(PageLayout(call: call, title: texts("login.title")).whole(body, scripts: ["login.js"]), status: status)
    }

    /// The form for a link with a code. A browser that is logged in becomes the person of the link.
    @Sendable private static func form(_ call: PageCall) throws -> HTTPResponse {
        answer(try PageCall(call.site, call.request, [], nil, nil), status: 200)
    }

    /// Makes the browser repeat the request from a page of this site, so that it sends the cookie (RFC 6265bis, section 5.2). A
    /// user without a session then gets the login form.
    static func again(_ call: PageCall) -> HTTPResponse {
        .page(
            "<!doctype html><html lang=\"\(call.texts.language)\"><head><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0\"><title>Vitalgate</title></head><body></body></html>"
        )
    }

    @Sendable private static func login(_ call: PageCall) throws -> HTTPResponse {
        let isOne = try call.text("code").map { try call.core.authentication.isCode($0, at: call.now) }
        guard isOne == true, let code = call.text("code") else {
            var failure = answer(call, status: 401, failed: true)
            failure.delay = call.core.delayOfWrongToken()
            call.site.report(wrongCodeFrom: call.request.head.peer)
            return failure
        }
        guard let token = try call.core.open(withCode: code, at: call.now) else {
            return answer(call, status: 401, failed: true)
        }
        var response = call.see("/page/")
        response.headers.append(call.site.cookie.header(token))
        return response
    }

    @Sendable private static func logout(_ call: PageCall) throws -> HTTPResponse {
        try call.changes().end(try call.person())
        var response = call.see("/page/")
        response.headers.append(call.site.cookie.header(nil))
        return response
    }
}
