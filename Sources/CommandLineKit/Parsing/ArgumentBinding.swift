/// Which values belong to which argument.
enum ArgumentBinding {
    /// Required ones first get their one value, then optional ones, and one that repeats has the rest.
    static func bind(_ values: [String], to declared: [Argument]) -> [[String]] {
        var spare = values.count - declared.count(where: \.isRequired)
        var rest = values[...]
        return declared.map { argument in
            var count = argument.isRequired ? 1 : 0
            if spare > 0, argument.isRepeating || argument.arity == .optional {
                let extra = argument.isRepeating ? spare : 1
                count += extra
                spare -= extra
            }
            let mine = Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            return mine
        }
    }
}
