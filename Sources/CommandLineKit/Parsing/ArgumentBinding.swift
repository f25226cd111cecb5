/// Assigns values to positional arguments.
enum ArgumentBinding {
    /// Each required argument gets one value, then optional ones get theirs, and a repeating one gets the rest.
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
