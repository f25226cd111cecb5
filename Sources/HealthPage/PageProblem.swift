import HTTPServerKit

/// A request that the page refuses. The reason is a text of the page.
///
///     throw PageProblem(404, "sample")  // "Sample not found."
struct PageProblem: Error {
    /// The status code, 400 or more.
    let status: Int
    /// The bound for which the request is refused.
    var bound: LoadBound?
    private let reason: Reason

    private enum Reason {
        case text(key: String, [String])
        case sentence(String)
    }

    /// - Parameters:
    ///   - key: The key of the reason, after `problem.`.
    ///   - values: The values in the reason.
    init(_ status: Int, _ key: String, _ values: String...) {
        (self.status, reason) = (status, .text(key: "problem." + key, values))
    }

    /// A request whose share of a bound is used up.
    init(_ status: Int, _ key: String, bound: LoadBound) {
        self.init(status, key)
        self.bound = bound
    }

    /// A refusal of the store with its own reason.
    init(_ status: Int, sentence: String) { (self.status, reason) = (status, .sentence(sentence)) }

    func html(_ texts: PageTexts) -> HTML {
        switch reason {
        case .text(let key, let values): "\(texts.text(key, values))"
        case .sentence(let sentence): texts.sentence(sentence)
        }
    }

    /// The same problem for scripts.
    func problem(_ texts: PageTexts) -> Problem {
        let detail =
            switch reason {
            case .text(let key, let values): texts.text(key, values)
            case .sentence(let sentence): texts.translation(of: sentence) ?? sentence
            }
        var problem = Problem(status, detail)
        problem.bound = bound
        return problem
    }
}
