import Glibc

/// Category and quantity types that this version does not know, by their identifiers in exports or stores. They are kept unchanged. In this
/// process, each has an index after those of the catalogue.
enum UnknownTypes {
    /// The maximum number of types. It exceeds HealthKit's number and is bounded because they come from outside.
    static let maximum = 1000

    /// The suffix of an id that another kind already has.
    private static let suffix = "Category"

    private final class Table: @unchecked Sendable {
        private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private var rows: [Catalogue.Row] = []
        private var indices: [Key: Int] = [:]

        private struct Key: Hashable {
            var kind: SampleKind
            var id: String
        }

        init() { pthread_mutex_init(lock, nil) }

        func row(at index: Int) -> Catalogue.Row? {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return rows.indices.contains(index) ? rows[index] : nil
        }

        func index(of id: String, _ kind: SampleKind, adding: Bool) -> Int? {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            let key = Key(kind: kind, id: id)
            if let known = indices[key] { return known }
            guard adding, rows.count < maximum else { return nil }
            if kind == .quantity {
                rows.append(Catalogue.Row(Catalogue.unknownQuantity(id)))
            } else {
                let plain = id.hasSuffix(suffix) ? String(id.dropLast(suffix.count)) : id
                let identifier = Catalogue.categoryPrefix + (Catalogue.indices[plain] == nil ? id : plain).capitalised
                rows.append(Catalogue.Row(Catalogue.category(id, identifier: identifier, values: nil, since: nil)))
            }
            indices[key] = rows.count - 1
            return rows.count - 1
        }
    }

    private static let table = Table()

    static func row(at index: Int) -> Catalogue.Row? { table.row(at: index) }

    /// The index of a category or quantity type by its id or identifier. Returns `nil` for a text that cannot be a type's name, if there are
    /// too many types, or if the type is missing and `adding` is false.
    static func index(of name: String, _ kind: SampleKind, adding: Bool) -> Int? {
        var id = name
        let prefix = kind == .quantity ? Catalogue.identifierPrefix : Catalogue.categoryPrefix
        if name.hasPrefix(prefix) {
            id = name.dropFirst(prefix.count).uncapitalised
            // Ids are unique. If another kind has the id (a state of mind), the category's id gets a suffix.
            if kind == .category, Catalogue.indices[id] != nil { id += suffix }
        }
        if kind == .quantity, Catalogue.indices[id] != nil { return nil }
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
        return table.index(of: id, kind, adding: adding)
    }
}
