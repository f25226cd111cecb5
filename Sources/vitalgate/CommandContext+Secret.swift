import Glibc

extension CommandContext {
    /// The value of a secret option. `-` reads a line from standard input, without echo on a terminal.
    func secret(_ option: String) throws -> String? {
        guard let text = invocation.string(option), text == "-" else { return invocation.string(option) }
        return typedSecret(option)
    }

    /// A line from standard input, without echo on a terminal.
    ///
    /// - Parameter label: the prompt on a terminal.
    func typedSecret(_ label: String) -> String {
        var settings = termios()
        let isTerminal = tcgetattr(STDIN_FILENO, &settings) == 0
        if isTerminal {
            note("\(label):")
            var silent = settings
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSANOW, &silent)
        }
        defer { if isTerminal { tcsetattr(STDIN_FILENO, TCSANOW, &settings) } }
        return readLine() ?? ""
    }
}
