import Glibc

/// Category types that this version does not know, by the identifiers that exports or stores have: they are kept whole. Each has an index
/// behind the catalogue's, in this process.
enum UnknownTypes {
    /// More than HealthKit has, and bounded, since they come from outside.
    static let maximum = 1000

    /// Behind an id that is another kind's.
    private static let suffix = "Category"

    private final class Table: @unchecked Sendable {
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private var entries: [Catalogue.Entry] = []
        private var indices: [String: Int] = [:]

        init() { pthread_mutex_init(lock, nil) }

        func entry(at index: Int) -> Catalogue.Entry? {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return entries.indices.contains(index) ? entries[index] : nil
        }

        func index(of id: String, adding: Bool) -> Int? {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            if let known = indices[id] { return known }
            guard adding, entries.count < maximum else { return nil }
            let plain = id.hasSuffix(suffix) ? String(id.dropLast(suffix.count)) : id
            let identifier = Catalogue.categoryPrefix + (Catalogue.indices[plain] == nil ? id : plain).capitalised
            entries.append(Catalogue.category(id, identifier: identifier, values: nil, since: nil))
            indices[id] = entries.count - 1
            return entries.count - 1
        }
    }

    private static let table = Table()

    static func entry(at index: Int) -> Catalogue.Entry? { table.entry(at: index) }

    /// The index of a type by its id or identifier; `nil` for a text that is no type's name, where there are too many, and, unless it is to be
    /// added, where nobody has.
    static func index(of name: String, adding: Bool) -> Int? {
        var id = name
        if name.hasPrefix(Catalogue.categoryPrefix) {
            id = name.dropFirst(Catalogue.categoryPrefix.count).uncapitalised
            // No two types have one id: where another kind has it (a state of mind), the category's says what it is.
            if Catalogue.indices[id] != nil { id += suffix }
        }
        guard id.utf8.count <= 100, id.utf8.first.map({ $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }) == true,
            id.utf8.allSatisfy({ byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            })
        else { return nil }
        return table.index(of: id, adding: adding)
    }
}
