/// The values of a category type, or the activities of a workout: HealthKit's raw numbers with their case names.
///
///     SampleType("sleepAnalysis")?.categoryValues?.name(of: 3)          // "asleepCore"
///     SampleType("sleepAnalysis")?.categoryValues?.value(of: "HKCategoryValueSleepAnalysisAsleep")  // 1
public struct CategoryValues: Sendable {
    /// Raw numbers with their names, in order.
    public let cases: [(value: Int, name: String)]
    /// The raw numbers by name and by HealthKit's constant, including earlier ones.
    private let values: [String: Int]
    private let constants: [Int: String]

    /// - Parameters:
    ///   - lists: The names of HealthKit's enumerations without `HKCategoryValue`, the current one first.
    ///   - rows: The rows of each list: a raw number and its names, the current one first.
    ///   - prefix: The prefix of HealthKit's constants.
    init(_ lists: [(name: String, rows: [(value: Int, names: [String])])], prefix: String = Self.prefix) {
        var (values, constants): ([String: Int], [Int: String]) = ([:], [:])
        for list in lists {
            for row in list.rows {
                for name in row.names {
                    let constant =
                        prefix + (list.name == Self.noList ? "" : list.name.capitalised) + name.capitalised
                    values[name] = row.value
                    values[constant] = row.value
                    if constants[row.value] == nil { constants[row.value] = constant }
                }
            }
        }
        cases = lists.first?.rows.compactMap { row in row.names.first.map { (row.value, $0) } } ?? []
        (self.values, self.constants) = (values, constants)
    }

    /// The prefix of HealthKit's constants.
    static let prefix = "HKCategoryValue"
    static let noList = "notApplicable"

    /// Whether the type has no values and records only that something happened.
    public var isOfNone: Bool { cases.count == 1 && cases[0].name == Self.noList }

    /// The case's name (`asleepCore`), or `nil` for a number that the type does not have.
    public func name(of value: Int) -> String? { cases.first { $0.value == value }?.name }

    /// HealthKit's constant, as written in exports.
    public func constant(of value: Int) -> String? { constants[value] }

    /// The raw number of a case's name or of HealthKit's constant, including those that older versions wrote.
    public func value(of name: some StringProtocol) -> Int? { values[String(name)] }
}
