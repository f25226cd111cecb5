/// The status a program ends with, after `sysexits.h`, so that a script can tell a typing error from a full disk.
public enum ExitCode: Int32, Sendable, Equatable {
    case success = 0
    /// The command line makes no sense (`EX_USAGE`).
    case usage = 64
    /// Some of the data was refused (`EX_DATAERR`).
    case dataError = 65
    /// There is no such input, or it can't be read (`EX_NOINPUT`).
    case noInput = 66
    /// A service or a device that is needed is not there (`EX_UNAVAILABLE`).
    case unavailable = 69
    /// An error of the program itself (`EX_SOFTWARE`).
    case software = 70
    /// A file to be written can't be created (`EX_CANTCREAT`).
    case cannotCreate = 73
    /// Reading or writing failed (`EX_IOERR`).
    case ioError = 74
    /// It may work later (`EX_TEMPFAIL`).
    case tryAgain = 75
    /// The user may not do this (`EX_NOPERM`).
    case noPermission = 77
    /// The configuration is wrong (`EX_CONFIG`).
    case configuration = 78
}
