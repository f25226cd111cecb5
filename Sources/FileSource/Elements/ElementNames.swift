import CExpat
import Glibc
import HealthModel
import Pipeline

/// Limits the number of distinct names of elements and attributes, because the parser keeps all of them in memory.
struct ElementNames {
    /// The maximum number of names. A format has some sixty.
    static let maximum = 4096

    private var hashes: Set<UInt64> = []

    /// Adds the names of an element and its attributes.
    ///
    /// - Returns: the error if there are too many, or `nil`.
    mutating func note(
        _ element: UnsafeRawBufferPointer, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>
    ) -> String? {
        var problem = note(element)
        var index = 0
        while let name = attributes[index] {
            problem = note(ElementText.bytes(name))
            index += 2
        }
        return problem
    }

    mutating func note(_ name: UnsafeRawBufferPointer) -> String? {
        hashes.insert(StableHash.hash(name))
        return hashes.count > Self.maximum ? "more than \(Self.maximum) names of elements and attributes" : nil
    }
}

/// Counts elements that are not stored, by name.
struct SkippedElements {
    /// The maximum number of names between two rows. ``SkipNames`` limits those of an import.
    private static let maximum = SkipNames.maximum

    private var counts: [[UInt8]: Int] = [:]
    private var others = 0

    /// Counts an element by its name without a prefix.
    mutating func count(_ name: [UInt8]) {
        if counts.count < Self.maximum || counts[name] != nil { counts[name, default: 0] += 1 } else { others += 1 }
    }

    /// Appends a row of name and count for each element, sorted by name, and resets the counts.
    mutating func put(into rows: inout ExportRows, _ element: StaticString, at place: Place) {
        if others > 0 { counts[Array(SkipNames.other.name.utf8), default: 0] += others }
        for (name, count) in counts.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            rows.append(element, [name, Array("\(count)".utf8)], at: place)
        }
        (counts, others) = ([:], 0)
    }
}

/// Access to the texts that the parser passes, without copies.
enum ElementText {
    @inline(__always) static func bytes(_ text: UnsafePointer<XML_Char>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: text, count: strlen(text))
    }

    /// Returns a name without its prefix.
    static func local(_ name: UnsafePointer<XML_Char>) -> UnsafeRawBufferPointer {
        bytes(strrchr(name, 0x3A).map { UnsafePointer($0 + 1) } ?? name)
    }

    /// Returns the value of an attribute, or `nil`.
    static func attribute(
        _ name: String, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>
    ) -> UnsafeRawBufferPointer? {
        var index = 0
        while let own = attributes[index], let value = attributes[index + 1] {
            if strcmp(own, name) == 0 { return bytes(value) }
            index += 2
        }
        return nil
    }
}
