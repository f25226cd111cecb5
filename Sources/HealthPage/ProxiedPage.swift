import HTTPServerKit

extension HTTPResponse {
    /// Returns the response for a browser that sees the page at another address, and possibly in a frame of the proxy's own page.
    ///
    /// Links in HTML are attributes that begin with `/page/`. Texts cannot look like one, because their quotation marks are escaped.
    func shown(at address: ProxiedAddress?) -> HTTPResponse {
        guard let address else { return self }
        var response = self
        response.headers = headers.map { name, value in
            switch name {
            case "Location" where value.hasPrefix("/page"): (name, address.path + value)
            case "Set-Cookie": (name, value.replacing("; Path=/page;", with: "; Path=\(address.path)/page;"))
            case "Content-Security-Policy":
                (name, value.replacing("frame-ancestors 'none'", with: "frame-ancestors 'self'"))
            case "X-Frame-Options": (name, "SAMEORIGIN")
            default: (name, value)
            }
        }
        if case .bytes(let bytes) = content,
            headers.contains(where: { $0.name == "Content-Type" && $0.value.hasPrefix("text/html") })
        {
            let text = String(decoding: bytes, as: UTF8.self)
            response.content = .bytes(Array(text.replacing("=\"/page/", with: "=\"\(address.path)/page/").utf8))
        }
        return response
    }
}
