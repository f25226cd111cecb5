import HealthModel

/// The fields of a form with their labels, values, and errors.
struct FormFields {
    let call: PageCall
    /// The key of the error of each wrong field, by the field's name.
    var errors: [String: String] = [:]

    /// The maximum length of a typed text in bytes.
    static let maximumLength = 200

    /// A field's text as typed, at most ``maximumLength`` bytes long.
    func typed(_ name: String) -> String? {
        call.text(name).flatMap { $0.utf8.count <= Self.maximumLength ? $0 : nil }
    }

    /// A text field. Its error is shown beside it and announced with it.
    func input(_ name: String, _ label: String, value: String, type: String = "text", attributes: HTML = "") -> HTML {
        """
        <div class="field"><label for="\(name)">\(label)</label>
        <input id="\(name)" name="\(name)" type="\(type)" value="\(value)" maxlength="\(Self.maximumLength)" \(attributes)\(state(name))>\(error(name))</div>

        """
    }

    /// A choice of one of several values.
    func select(_ name: String, _ label: String, _ options: [(value: String, text: String)], chosen: String?) -> HTML {
        let items: [HTML] = options.map { option in
            let selected: HTML = option.value == chosen ? " selected" : ""
            return "<option value=\"\(option.value)\"\(selected)>\(option.text)</option>"
        }
        return """
            <div class="field"><label for="\(name)">\(label)</label>
            <select id="\(name)" name="\(name)"\(state(name))>\(items)</select>\(error(name))</div>

            """
    }

    private func state(_ name: String) -> HTML {
        errors[name] == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"\(name)-error\""
    }

    private func error(_ name: String) -> HTML {
        errors[name].map { "<p class=\"problem\" id=\"\(name)-error\">\(call.texts($0))</p>" } ?? ""
    }

    static func hidden(_ fields: [(name: String, value: String)]) -> HTML {
        let inputs: [HTML] = fields.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">" }
        return "\(inputs)"
    }
}
