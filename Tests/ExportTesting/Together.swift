import Glibc

/// Several things in the same moments, on a thread each.
package enum Together {
    private final class Work {
        let body: () throws -> Void
        var failure: (any Error)?
        init(_ body: @escaping () throws -> Void) { self.body = body }
    }

    /// Runs all bodies at the same time and waits for them. They must synchronize shared state themselves.
    ///
    /// - Throws: the error of the first one that failed.
    package static func run(_ bodies: [() throws -> Void]) throws {
        let works = bodies.map(Work.init)
        var threads: [pthread_t] = []
        for work in works {
            var thread = pthread_t()
            pthread_create(
                &thread, nil,
                { context in
                    guard let context else { return nil }
                    let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
                    do { try work.body() } catch { work.failure = error }
                    return nil
                }, Unmanaged.passRetained(work).toOpaque())
            threads.append(thread)
        }
        for thread in threads { pthread_join(thread, nil) }
        if let failure = works.lazy.compactMap(\.failure).first { throw failure }
    }
}
