import Pipeline

/// Counts the members of JSON objects that have a value and are not read by any path.
struct UnreadMembers {
    /// Paths that are not counted. One that ends in `.*` or `[*` includes everything in it.
    private let ignored: [[UInt8]]
    private var counts: [[UInt8]: Int] = [:]
    /// The count of members beyond the maximum number of names.
    private var others = 0

    init(ignored: [[UInt8]] = []) { self.ignored = ignored }

    mutating func note(_ path: [UInt8]) {
        if counts[path] != nil || counts.count < Unread.maximumNames { counts[path, default: 0] += 1 } else { others += 1 }
    }

    var unread: Unread {
        var unread = Unread()
        for (path, count) in counts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) where !isIgnored(path) {
            unread.count(String(decoding: path, as: UTF8.self), as: .member, count)
        }
        if others > 0 { unread.countMore(others, as: .member) }
        return unread
    }

    private func isIgnored(_ path: [UInt8]) -> Bool {
        ignored.contains { $0.last == UInt8(ascii: "*") ? path.starts(with: $0.dropLast()) : $0 == path }
    }
}
