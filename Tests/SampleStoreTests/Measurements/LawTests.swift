import Glibc
import PipelineTesting
import Testing

/// Random sequences of imports, decisions, repairs and undos have the result that `docs/explanation/readings.md` describes. ``LawModel``
/// computes it from the documentation alone.
///
/// `VITALGATE_SEQUENCES` sets the number of sequences (2,000), `VITALGATE_SEED` the first one's seed (1), and `VITALGATE_LAW` the groups of
/// operations (all): names of ``LawFlags`` separated by commas. A mismatch is printed with its seed and as few steps as possible.
/// `VITALGATE_LAW_FAILURES` sets the number of mismatches after which the test ends (1).
@Suite struct LawTests {
    private static func text(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    private static func number(_ name: String, _ fallback: Int) -> Int { text(name).flatMap(Int.init) ?? fallback }

    private static func flags() throws -> LawFlags {
        guard let text = text("VITALGATE_LAW") else { return LawFlags.all }
        return try LawFlags(
            text.split(separator: ",").filter { $0 != "none" }.map { name in
                try #require(LawFlags.named.first { $0.name == name }, "\(name) is not a group of operations").flag
            })
    }

    /// Runs a sequence. Returns the mismatch, if there is one.
    static func mismatch(_ steps: [LawStep]) throws -> String? {
        let store = try LawStore()
        var model = LawModel()
        for step in steps {
            let verdict = model.verdict(step)
            if verdict == .skipped || store.lacks(step) { continue }
            let isDone: Bool
            var fault = ""
            do {
                isDone = try store.run(step, model)
            } catch {
                fault = "\(error)"
                isDone = false
            }
            switch verdict {
            case .accepted where !isDone: return "step \(step.id) is not accepted: \(fault)"
            case .refused where isDone: return "step \(step.id) is accepted, by the documentation it is refused"
            case .refused where fault.isEmpty: return "step \(step.id) has nothing to do, by the documentation it is refused"
            case .noChange where isDone: return "step \(step.id) changes something, by the documentation it has nothing to do"
            case .noChange where !fault.isEmpty: return "step \(step.id) is refused: \(fault)"
            default: break
            }
            model.apply(step, isDone: isDone)
            do {
                try store.compare(model)
            } catch {
                return "after step \(step.id): \(error)"
            }
        }
        do {
            try store.check()
        } catch {
            return "at the end: \(error)"
        }
        return nil
    }

    /// The sequence with as few steps and readings as possible.
    static func shortened(_ steps: [LawStep]) throws -> [LawStep] {
        var steps = steps
        var isShorter = true
        while isShorter {
            isShorter = false
            for key in steps.indices.reversed() {
                var fewer = steps
                fewer.remove(at: key)
                if try mismatch(fewer) != nil {
                    steps = fewer
                    isShorter = true
                    continue
                }
                guard case .ingest(let readings, let exact) = steps[key].operation, readings.count > 1 else { continue }
                for reading in readings.indices.reversed() {
                    var left = readings
                    left.remove(at: reading)
                    fewer = steps
                    fewer[key].operation = .ingest(left, exact: exact)
                    if try mismatch(fewer) != nil {
                        steps = fewer
                        isShorter = true
                        break
                    }
                }
            }
        }
        return steps
    }

    @Test func sequences() throws {
        let seed = Self.number("VITALGATE_SEED", 1)
        let flags = try Self.flags()
        let limit = Self.number("VITALGATE_LAW_FAILURES", 1)
        var failures = 0
        for seed in seed..<(seed + Self.number("VITALGATE_SEQUENCES", 2000)) {
            var generator = LawGenerator(seed: UInt64(seed), flags: flags)
            let steps = generator.make()
            guard try Self.mismatch(steps) != nil else { continue }
            let short = try Self.shortened(steps)
            let found = try Self.mismatch(short) ?? "not found again"
            Issue.record("seed \(seed): \(found)\n\(short.map { "  \($0)" }.joined(separator: "\n"))")
            failures += 1
            if failures == limit { break }
        }
    }

    /// The same imports in every order give the same live samples, links and daily statistics.
    @Test(arguments: [[.units, .records], [.units, .paths, .noDevice]] as [LawFlags]) func everyOrder(flags: LawFlags) throws {
        let seed = Self.number("VITALGATE_SEED", 1)
        let flags = flags.intersection(try Self.flags())
        for seed in seed..<(seed + Self.number("VITALGATE_SEQUENCES", 2000) / 40) {
            var generator = LawGenerator(seed: UInt64(seed), flags: flags)
            let imports = generator.make().filter {
                guard case .ingest = $0.operation else { return false }
                return true
            }
            guard let (order, first, other) = try Self.differing(Array(imports.prefix(4))) else { continue }
            let differences = Set(first).symmetricDifference(other).sorted().map {
                "    \(first.contains($0) ? "first" : "other"): \($0)"
            }
            Issue.record(
                """
                seed \(seed): the order \(order.map(\.id)) has another result
                \(imports.prefix(4).map { "  \($0)" }.joined(separator: "\n"))
                \(differences.joined(separator: "\n"))
                """)
            return
        }
    }

    private static func differing(_ imports: [LawStep]) throws -> (order: [LawStep], first: [String], other: [String])? {
        var first: [String]?
        for order in orders(imports) {
            let store = try LawStore()
            for step in order { _ = try store.run(step, LawModel()) }
            let answers = try store.answers()
            if let first, first != answers { return (order, first, answers) }
            first = answers
        }
        return nil
    }

    private static func orders(_ steps: [LawStep]) -> [[LawStep]] {
        guard steps.count > 1 else { return [steps] }
        return steps.indices.flatMap { key in
            var rest = steps
            let one = rest.remove(at: key)
            return orders(rest).map { [one] + $0 }
        }
    }
}
