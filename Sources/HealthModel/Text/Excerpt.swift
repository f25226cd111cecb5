extension String {
    /// The beginning of a text for a message that repeats input: whole characters within a number of bytes, followed by an ellipsis if
    /// it is cut.
    package func excerpt(maximum: Int = 200) -> String {
        guard utf8.count > maximum else { return self }
        var end = utf8.index(startIndex, offsetBy: max(0, maximum - 3))
        while end > startIndex, String.Index(end, within: unicodeScalars) == nil { end = utf8.index(before: end) }
        return self[..<end] + "…"
    }
}
