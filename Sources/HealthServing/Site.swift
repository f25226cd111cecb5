import HTTPServerKit
import HealthModel
import Pipeline
import SampleStore

/// A part of the service with its own paths, such as the API or the page.
package protocol Site: HTTPHandler {
    /// Whether a path belongs to this site. The first site that has it gets the request.
    func has(_ path: [String]) -> Bool
}

struct Sites: HTTPHandler {
    let all: [any Site]

    func resolve(_ head: RequestHead) throws(Problem) -> ResolvedRequest {
        guard let site = all.first(where: { $0.has(head.path) }) else { throw Problem(404, "Path not found.") }
        return try site.resolve(head)
    }
}

extension Problem {
    package static let busy = Problem(503, "The store is busy. Try again.", headers: ["Retry-After": "1"])

    /// The problem of an error. The details of unexpected errors stay inside because they may mention hidden data.
    package init(of error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as PredicateError: self.init(422, "where: \(error)")
        case let error as UnitError: self.init(422, "\(error)")
        case let error as StoreError where error.kind == .busy || error.kind == .outOfMemory: self = .busy
        case let error as StoreError where error.kind == .tooLong:
            self.init(422, "The query takes too long. Use a shorter time range or fewer types.")
        case let error as StoreError where error.kind == .full:
            self.init(507, "The disk is full. Nothing was saved.", headers: ["Retry-After": "600"])
        case let refusal as Refusal:
            self.init(422, "\(refusal.place.kind.rawValue) \(refusal.place.number): \(refusal.reason)")
        default: self.init(500, "The request failed because of an internal error.")
        }
    }
}
