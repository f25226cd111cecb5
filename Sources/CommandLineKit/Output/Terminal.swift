import Glibc

/// The properties of the terminal that a file descriptor refers to.
package struct Terminal: Sendable, Equatable {
    /// Whether the descriptor is a terminal rather than a file or a pipe.
    package var isTerminal: Bool
    /// Whether the terminal can redraw a line: `TERM` is set and not `dumb`.
    package var canRedraw: Bool
    /// The width in columns, or `nil` if lines may have any width, as in a file.
    package var width: Int?
    /// The height in lines, or `nil` if it is unknown.
    package var height: Int?
    /// Whether the locale supports more than ASCII.
    package var isUnicode: Bool
    /// Whether to use colors. `NO_COLOR` disables them (no-color.org).
    package var showsColours = false

    /// - Parameter width: in columns, or `nil` if lines may have any width.
    package init(isTerminal: Bool, canRedraw: Bool, width: Int?, height: Int? = nil, isUnicode: Bool) {
        self.isTerminal = isTerminal
        self.canRedraw = canRedraw
        self.width = width
        self.height = height
        self.isUnicode = isUnicode
    }

    /// Reads the properties from the system and from the variables `TERM`, `COLUMNS`, `LC_ALL`, `LC_CTYPE` and `LANG`.
    package init(descriptor: Int32) {
        self.init(descriptor: descriptor) { name in getenv(name).map { String(cString: $0) } }
    }

    init(descriptor: Int32, environment: (String) -> String?) {
        isTerminal = isatty(descriptor) == 1
        let kind = environment("TERM") ?? ""
        canRedraw = isTerminal && !kind.isEmpty && kind != "dumb"
        showsColours = canRedraw && (environment("NO_COLOR") ?? "").isEmpty
        let size = isTerminal ? Self.size(of: descriptor) : nil
        width = isTerminal ? size?.columns ?? environment("COLUMNS").flatMap { Int($0) } ?? 80 : nil
        height = size?.lines
        // The first variable that is not empty counts, see locale(7).
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        let encoding = locale.lowercased()
        isUnicode = encoding.contains("utf-8") || encoding.contains("utf8")
    }

    /// Returns the size. A serial console does not know its size and reports zero.
    private static func size(of descriptor: Int32) -> (columns: Int?, lines: Int?)? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
        return (size.ws_col > 0 ? Int(size.ws_col) : nil, size.ws_row > 0 ? Int(size.ws_row) : nil)
    }
}
