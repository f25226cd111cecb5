import Glibc

/// What is known of the terminal behind a file descriptor.
public struct Terminal: Sendable, Equatable {
    /// Whether a person sees it, rather than a file or another program.
    public var isTerminal: Bool
    /// A terminal that can redraw a line: `TERM` is set and not `dumb`.
    public var canRedraw: Bool
    /// The columns of a line; `nil` if lines may have any width, as in a file.
    public var width: Int?
    /// The lines of the screen; `nil` where there is none, or it does not know.
    public var height: Int?
    /// Shows more than ASCII, as far as the locale tells.
    public var isUnicode: Bool
    /// Shows colours, and nobody asked for none (`NO_COLOR`, no-color.org).
    public var showsColours = false

    /// - Parameter width: in columns; nil where lines may have any width.
    public init(isTerminal: Bool, canRedraw: Bool, width: Int?, height: Int? = nil, isUnicode: Bool) {
        self.isTerminal = isTerminal
        self.canRedraw = canRedraw
        self.width = width
        self.height = height
        self.isUnicode = isUnicode
    }

    /// Asks the system, and the environment for `TERM`, `COLUMNS`, `LC_ALL`, `LC_CTYPE` and `LANG`.
    public init(descriptor: Int32) {
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
        // The first one that is not empty holds: locale(7).
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        let encoding = locale.lowercased()
        isUnicode = encoding.contains("utf-8") || encoding.contains("utf8")
    }

    /// A serial console does not know its size, and says zero.
    private static func size(of descriptor: Int32) -> (columns: Int?, lines: Int?)? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
        return (size.ws_col > 0 ? Int(size.ws_col) : nil, size.ws_row > 0 ? Int(size.ws_row) : nil)
    }
}
