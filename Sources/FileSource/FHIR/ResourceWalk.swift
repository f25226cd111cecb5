import HealthModel
import Pipeline

/// A single pass through a file of resources.
final class ResourceWalk {
    private let text: ResourceText
    private let received: Instant
    private let row = TextRow()

    /// The maximum lengths of names and addresses. Longer ones are ignored.
    private static let maximumNameLength = 64
    private static let maximumAddressLength = 2048

    init(_ text: ResourceText, received: Instant) {
        self.text = text
        self.received = received
        row.cells = Array(repeating: UnsafeRawBufferPointer(start: nil, count: 0), count: ResourceRow.count)
    }

    func run(_ handle: (RawFrame) throws -> Void) throws {
        var isFirst = true
        while let byte = try nextValue(isFirst: isFirst) {
            let line = text.line
            text.firstLine = isFirst ? line : 0
            guard byte == UInt8(ascii: "{") else {
                guard !isFirst else { throw SourceError(.malformed, "it is not a JSON object", at: Place(.byte, text.offset)) }
                try refuse("it is not a JSON object", line, handle)
                try lineIsPassed()
                continue
            }
            do {
                try object(at: Place(.line, line), handle)
                // If the first resource is on one line, each line is a resource.
                if isFirst { text.endsAtLine = text.line == line }
            } catch let error as ResourceText.Break {
                try recover(from: error, line, handle)
            }
            isFirst = false
        }
    }

    /// Returns the first byte of the next value, or `nil` at the end of the file.
    private func nextValue(isFirst: Bool) throws -> UInt8? {
        do throws(ResourceText.Break) {
            while let byte = try text.peek() {
                // A byte order mark.
                let isMark = isFirst && text.offset < 3 && byte >= 0x80
                guard byte <= 0x20 || isMark else { return byte }
                text.pass()
            }
        } catch {
            throw Self.sourceError(error, text.offset)
        }
        return nil
    }

    private func lineIsPassed() throws {
        do throws(ResourceText.Break) {
            try text.passLine()
        } catch {
            throw Self.sourceError(error, text.offset)
        }
    }

    /// Continues after an invalid line. A text that spans several lines cannot be continued.
    private func recover(from error: ResourceText.Break, _ line: Int, _ handle: (RawFrame) throws -> Void) throws {
        text.stopCopying()
        switch error {
        case .lineEnd:
            text.endsAtLine = true
            try refuse("it ends early", line, handle)
        case .byte where text.endsAtLine:
            try refuse("it is not JSON", line, handle)
            try lineIsPassed()
        case .end where text.endsAtLine: try refuse("it ends early", line, handle)
        default: throw Self.sourceError(error, text.offset)
        }
    }

    private static func sourceError(_ error: ResourceText.Break, _ offset: Int) -> SourceError {
        switch error {
        case .input(let error): error
        case .end: SourceError(.malformed, "it ends early", at: Place(.byte, offset))
        case .lineEnd, .byte: SourceError(.malformed, "it is not JSON", at: Place(.byte, offset))
        }
    }

    // MARK: Objects

    /// Reads a resource, or a Bundle whose entries are delivered one by one.
    private func object(at place: Place, _ handle: (RawFrame) throws -> Void) throws {
        var type: String?
        var hasEntries = false
        text.keep()
        try members { name, byte in
            if name == "resourceType", byte == UInt8(ascii: "\"") {
                type = try text.string(limit: Self.maximumNameLength)
                if type == "Bundle" { text.stopCopying() }
            } else if name == "entry", byte == UInt8(ascii: "["), type == nil || type == "Bundle" {
                text.stopCopying()
                hasEntries = true
                try entries(handle)
            } else {
                try text.value()
            }
        }
        text.stopCopying()
        if type == "Bundle" { return }
        guard !hasEntries else {
            return try handle(
                RawFrame(payload: .malformed("resourceType: is not Bundle, after entries"), place: place, received: received))
        }
        try give(address: "", at: place, handle)
    }

    /// Passes the members of the object that begins here. `body` gets the first byte of each value and must skip the value.
    private func members(_ body: (String?, UInt8) throws -> Void) throws {
        try text.pass(UInt8(ascii: "{"))
        if try text.next() == UInt8(ascii: "}") { return text.pass() }
        while true {
            let name = try text.string(limit: Self.maximumNameLength)
            try text.pass(UInt8(ascii: ":"))
            try body(name, try text.next())
            if try text.next() == UInt8(ascii: "}") { return text.pass() }
            try text.pass(UInt8(ascii: ","))
            _ = try text.next()
        }
    }

    private func entries(_ handle: (RawFrame) throws -> Void) throws {
        try text.pass(UInt8(ascii: "["))
        if try text.next() == UInt8(ascii: "]") { return text.pass() }
        while true {
            try entry(handle)
            if try text.next() == UInt8(ascii: "]") { return text.pass() }
            try text.pass(UInt8(ascii: ","))
        }
    }

    private func entry(_ handle: (RawFrame) throws -> Void) throws {
        var address = ""
        var place: Place?
        let start = Place(.byte, text.offset)
        var resources = 0
        try members { name, byte in
            if name == "resource", byte == UInt8(ascii: "{") {
                resources += 1
                place = Place(.byte, text.offset)
                text.keep()
                try text.value()
                text.stopCopying()
            } else if name == "fullUrl", byte == UInt8(ascii: "\"") {
                address = try text.string(limit: Self.maximumAddressLength) ?? ""
            } else {
                try text.value()
            }
        }
        switch resources {
        case 1: try give(address: address, at: place ?? start, handle)
        case 0:
            // An entry without a resource, such as a deletion in a transaction.
            text.keep()
            text.stopCopying()
            try give(address: address, at: start, handle)
        default: try handle(RawFrame(payload: .malformed("the entry has two resources"), place: start, received: received))
        }
    }

    // MARK: Frames

    private func give(address: String, at place: Place, _ handle: (RawFrame) throws -> Void) throws {
        guard !text.isTooLong else {
            let reason = "the resource is longer than \(ResourceRow.maximumLength >> 20) MiB"
            return try handle(RawFrame(payload: .malformed(reason), place: place, received: received))
        }
        var address = address
        try address.withUTF8 { address in
            try text.copied.withUnsafeBytes { bytes in
                row.cells[ResourceRow.bytes] = bytes
                row.cells[ResourceRow.sourceURL] = UnsafeRawBufferPointer(address)
                try handle(RawFrame(payload: .row(row), place: place, received: received, channel: ResourceRow.fhir))
            }
        }
    }

    private func refuse(_ reason: String, _ line: Int, _ handle: (RawFrame) throws -> Void) throws {
        try handle(RawFrame(payload: .malformed(reason), place: Place(.line, line), received: received))
    }
}
