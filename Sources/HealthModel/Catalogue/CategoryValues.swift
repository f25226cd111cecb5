/// What the values of a category type are, or the activities of a workout: HealthKit's raw numbers, each with its case's name.
///
///     SampleType("sleepAnalysis")?.categoryValues?.name(of: 3)          // "asleepCore"
///     SampleType("sleepAnalysis")?.categoryValues?.value(of: "HKCategoryValueSleepAnalysisAsleep")  // 1
public struct CategoryValues: Sendable {
    /// Raw numbers with their names, in order.
    public let cases: [(value: Int, name: String)]
    /// By names and HealthKit's constants, those of before among them.
    private let values: [String: Int]
    private let constants: [Int: String]

    /// - Parameters:
    ///   - lists: names of HealthKit's enumerations without `HKCategoryValue`, the present one first.
    ///   - rows: what each list has: a raw number and its names, the present one first.
    ///   - prefix: what HealthKit's constants begin with.
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

    /// What HealthKit's constants begin with.
    static let prefix = "HKCategoryValue"
    /// The list of the types that have no values.
    static let noList = "notApplicable"

    /// What stands for a type that tells nothing but that it happened.
    public var isOfNone: Bool { cases.count == 1 && cases[0].name == Self.noList }

    /// The case's name (`asleepCore`); `nil` for a number that the type has not.
    public func name(of value: Int) -> String? { cases.first { $0.value == value }?.name }

    /// HealthKit's constant, as exports write it.
    public func constant(of value: Int) -> String? { constants[value] }

    /// The raw number of a case's name or HealthKit's constant, also of one that older versions wrote.
    public func value(of name: some StringProtocol) -> Int? { values[String(name)] }
}
