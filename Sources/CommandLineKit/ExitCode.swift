/// The exit status of a program, following `sysexits.h`. Scripts can use it to distinguish a typing error from a full disk.
package enum ExitCode: Int32, Sendable, Equatable {
    case success = 0
    /// The command line is invalid (`EX_USAGE`).
    case usage = 64
    /// Some of the data was rejected (`EX_DATAERR`).
    case dataError = 65
    /// The input does not exist or cannot be read (`EX_NOINPUT`).
    case noInput = 66
    /// A required service or device is not available (`EX_UNAVAILABLE`).
    case unavailable = 69
    /// An internal error (`EX_SOFTWARE`).
    case software = 70
    /// An output file cannot be created (`EX_CANTCREAT`).
    case cannotCreate = 73
    /// Reading or writing failed (`EX_IOERR`).
    case ioError = 74
    /// A temporary failure. A retry may succeed (`EX_TEMPFAIL`).
    case tryAgain = 75
    /// The user has no permission (`EX_NOPERM`).
    case noPermission = 77
    /// The configuration is wrong (`EX_CONFIG`).
    case configuration = 78
}
