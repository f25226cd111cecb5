import CPostgreSQL
import Glibc
import Pipeline

/// A session with a server. No call waits longer than its patience for an answer.
package final class PostgreSQLConnection {
    /// The maximum time in milliseconds for a statement on a busy server.
    package static let timeout: Int32 = 60_000
    /// The same for statements that create indexes, or move or remove many rows: a day.
    package static let rebuildTimeout: Int32 = 86_400_000

    /// The number of bytes of rows sent at once.
    private static let portion = 1 << 16

    /// Whether the server's last error may be about the rows or about the server itself. Such an error is a refusal of the rows if the server
    /// accepts others (``PostgreSQLSession``).
    private(set) var isUnclear = false

    private let handle: OpaquePointer
    private let timeout: Int32
    /// The names of the statements that the server has parsed, by their texts.
    private var prepared: [String: String] = [:]

    /// Connects.
    ///
    /// - Parameter timeout: the maximum time in milliseconds for a statement.
    package init(_ settings: PostgreSQLSettings, timeout: Int32 = PostgreSQLConnection.timeout) throws(DeliveryError) {
        self.timeout = timeout
        var parameters = [
            ("host", settings.host), ("port", "\(settings.port)"), ("dbname", settings.database), ("user", settings.user),
            ("sslmode", settings.tls.rawValue), ("application_name", "vitalgate"), ("connect_timeout", "15"),
            ("client_encoding", "UTF8"), ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "30000"),
            (
                "options",
                "-c statement_timeout=\(timeout) -c lock_timeout=30000 -c synchronous_commit=on -c datestyle=ISO -c timezone=UTC"
            ),
        ]
        // One of them is a standby, which accepts no changes.
        if settings.hosts.count > 1 { parameters.append(("target_session_attrs", "read-write")) }
        // By default libpq looks for trusted certificates only in the home folder.
        if settings.tls == .verifyFull {
            parameters.append(("sslrootcert", settings.certificateAuthority ?? "/etc/ssl/certs/ca-certificates.crt"))
        }
        if let password = try settings.password?.read() { parameters.append(("password", password)) }
        guard let handle = Self.connect(parameters) else { throw DeliveryError(.unreachable, "PostgreSQL: out of memory") }
        self.handle = handle
        guard PQstatus(handle) == CONNECTION_OK else {
            let words = String(cString: PQerrorMessage(handle)).split(separator: "\n").first.map(String.init) ?? "no connection"
            throw Self.connectionError(words)
        }
        PQsetnonblocking(handle, 1)
        // The server's notices, such as that a table exists, are not needed.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
    }

    deinit { PQfinish(handle) }

    private static func connect(_ parameters: [(String, String)]) -> OpaquePointer? {
        let keys = parameters.map { strdup($0.0) }
        let values = parameters.map { strdup($0.1) }
        defer { for text in keys + values { free(text) } }
        let names: [UnsafePointer<CChar>?] = keys.map { UnsafePointer($0) } + [nil]
        let texts: [UnsafePointer<CChar>?] = values.map { UnsafePointer($0) } + [nil]
        return PQconnectdbParams(names, texts, 0)
    }

    /// Returns the error of a failed connection. Before a session there are no error codes, so libpq's text decides.
    private static func connectionError(_ words: String) -> DeliveryError {
        if words.contains("too many connections") { return DeliveryError(.unreachable, words) }
        let refused = ["authentication failed", "no pg_hba.conf entry", "role \"", "no password supplied", "permission denied"]
        if refused.contains(where: words.contains) { return DeliveryError(.unauthorised, words) }
        let unfit = ["does not exist", "certificate", "sslrootcert", "server does not support SSL"]
        return DeliveryError(unfit.contains(where: words.contains) ? .unfit : .unreachable, words)
    }

    /// Runs a statement and returns its rows as text. `nil` is NULL.
    ///
    /// - Parameter first: the first value in PostgreSQL's binary form, before the others, or `nil` for none. The server reads a long array faster
    ///   than its text.
    @discardableResult
    package func run(
        _ sql: String, _ values: [String?] = [], binary first: [UInt8]? = nil
    ) throws(DeliveryError) -> [[String?]] {
        let isSent = withPointers(to: values) { pointers in
            if let first {
                return first.withUnsafeBytes { bytes in
                    let others = values.map { _ in Int32(0) }
                    return PQsendQueryParams(
                        handle, sql, Int32(values.count + 1), nil,
                        [bytes.baseAddress?.assumingMemoryBound(to: CChar.self)] + pointers, [Int32(bytes.count)] + others,
                        [1] + others, 0)
                }
            }
            // Without parameters, several statements can be sent at once.
            guard !values.isEmpty else { return PQsendQuery(handle, sql) }
            return PQsendQueryParams(handle, sql, Int32(values.count), nil, pointers, nil, nil, 0)
        }
        guard isSent == 1 else { throw lost() }
        return try answer()
    }

    /// Runs a statement that comes with each delivery, and returns its rows as text. The server parses and plans it once. So the statement must not
    /// depend on a hub, and its best plan must not depend on the values.
    @discardableResult
    package func runPrepared(_ sql: String, _ values: [String?]) throws(DeliveryError) -> [[String?]] {
        let name = prepared[sql] ?? "vitalgate_\(prepared.count)"
        if prepared[sql] == nil {
            guard PQsendPrepare(handle, name, sql, 0, nil) == 1 else { throw lost() }
            try answer()
            prepared[sql] = name
        }
        let isSent = withPointers(to: values) {
            PQsendQueryPrepared(handle, name, Int32(values.count), $0, nil, nil, 0)
        }
        guard isSent == 1 else { throw lost() }
        return try answer()
    }

    private func withPointers(to values: [String?], _ body: ([UnsafePointer<CChar>?]) -> Int32) -> Int32 {
        let texts = values.map { $0.map { strdup($0) } ?? nil }
        defer { for text in texts { free(text) } }
        return body(texts.map { $0.map { UnsafePointer($0) } })
    }

    /// Sends rows of COPY while the server reads earlier ones.
    ///
    /// - Parameters:
    ///   - table: the table with its columns, such as `sample(uuid, value)`.
    ///   - next: appends some rows, and returns whether there are more.
    func copy(into table: String, _ next: (inout CopyRow) -> Bool) throws(DeliveryError) {
        guard PQsendQuery(handle, "COPY \(table) FROM STDIN (FORMAT binary)") == 1 else { throw lost() }
        try flush()
        try awaitAnswer()
        guard let result = PQgetResult(handle) else { throw lost() }
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COPY_IN else {
            let error = error(of: result)
            try drain()
            throw error
        }
        try put(CopyRow.signature[...])
        var rows = CopyRow()
        var hasMore = true
        while hasMore {
            rows.removeAll()
            while hasMore, rows.bytes.count < Self.portion { hasMore = next(&rows) }
            for start in stride(from: 0, to: rows.bytes.count, by: Self.portion) {
                try put(rows.bytes[start..<min(start + Self.portion, rows.bytes.count)])
            }
        }
        try put(CopyRow.end[...])
        while true {
            let code = PQputCopyEnd(handle, nil)
            guard code >= 0 else { throw lost() }
            if code == 1 { break }
            try wait(for: Int16(POLLOUT))
        }
        try answer()
    }

    private func put(_ bytes: ArraySlice<UInt8>) throws(DeliveryError) {
        while true {
            let code = bytes.withUnsafeBytes {
                PQputCopyData(handle, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count))
            }
            guard code >= 0 else { throw lost() }
            if code == 1 { return }
            try wait(for: Int16(POLLOUT))
        }
    }

    @discardableResult
    private func answer() throws(DeliveryError) -> [[String?]] {
        try flush()
        var rows: [[String?]] = []
        var failure: DeliveryError?
        while true {
            try awaitAnswer()
            guard let result = PQgetResult(handle) else { break }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK:
                for row in 0..<PQntuples(result) {
                    rows.append(
                        (0..<PQnfields(result)).map {
                            PQgetisnull(result, row, $0) == 1 ? nil : String(cString: PQgetvalue(result, row, $0))
                        })
                }
            case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
            default: failure = failure ?? error(of: result)
            }
        }
        if let failure { throw failure }
        guard PQstatus(handle) == CONNECTION_OK else { throw lost() }
        return rows
    }

    private func drain() throws(DeliveryError) {
        while true {
            try awaitAnswer()
            guard let result = PQgetResult(handle) else { return }
            PQclear(result)
        }
    }

    private func flush() throws(DeliveryError) {
        while true {
            let code = PQflush(handle)
            guard code >= 0 else { throw lost() }
            if code == 0 { return }
            try wait(for: Int16(POLLOUT | POLLIN))
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    private func awaitAnswer() throws(DeliveryError) {
        while PQisBusy(handle) == 1 {
            try wait(for: Int16(POLLIN))
            guard PQconsumeInput(handle) == 1 else { throw lost() }
        }
    }

    private func wait(for events: Int16) throws(DeliveryError) {
        var descriptor = pollfd(fd: PQsocket(handle), events: events, revents: 0)
        var count = poll(&descriptor, 1, timeout + 10_000)
        while count < 0, errno == EINTR { count = poll(&descriptor, 1, timeout + 10_000) }
        guard count > 0 else { throw DeliveryError(.unreachable, "PostgreSQL: no answer for \(timeout / 1000) s") }
    }

    private func lost() -> DeliveryError {
        let words = String(cString: PQerrorMessage(handle)).split(separator: "\n").first.map(String.init)
        return DeliveryError(.unreachable, words ?? "the connection was lost")
    }

    // MARK: Errors

    /// Whether an SQLSTATE may be caused by the rows as well as by the server. Examples are a row that is too long for an index (54000), JSON
    /// that is too deep (54001), rows that need too much memory (53200), and internal errors (XX000).
    static func isUnclear(_ state: String) -> Bool {
        // The other classes have an error of their own below, or are errors of a foreign server (HV).
        let clear = ["08", "0A", "22", "23", "25", "28", "3D", "3F", "40", "42", "44", "53", "55", "57", "58", "HV", "P0", ""]
        return state == "53200" || !clear.contains(String(state.prefix(2)))
    }

    /// Returns the error for an SQLSTATE (PostgreSQL's appendix A). The server's text may repeat our data, so it is used only for
    /// errors that are not about a row.
    private func error(of result: OpaquePointer) -> DeliveryError {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        // PG_DIAG_SQLSTATE and similar constants are characters.
        let state = field(Int32(UInt8(ascii: "C"))) ?? ""
        let text = field(Int32(UInt8(ascii: "M"))) ?? "no answer"
        isUnclear = Self.isUnclear(state)
        guard !state.isEmpty else { return DeliveryError(.unreachable, text) }
        switch state {
        // A row of ours that another row refers to is gone. The next session creates it again.
        case "23503", "25P02", "25P03": return DeliveryError(.unreachable, "PostgreSQL: SQLSTATE \(state)")
        // A standby. After a failover, the next session leads to the new primary.
        case "25006": return DeliveryError(.unreachable, "\(text) (SQLSTATE \(state))")
        case "55P03":
            return DeliveryError(.unreachable, "another session has locked these rows or tables for too long (SQLSTATE \(state))")
        case "42501": return DeliveryError(.unauthorised, "\(text) (SQLSTATE \(state))")
        default: break
        }
        switch state.prefix(2) {
        // The text of a trigger's error (P0) may contain anything.
        case "22", "23", "44", "P0":
            let column = field(Int32(UInt8(ascii: "c"))).map { " of column '\($0)'" } ?? ""
            return DeliveryError(.refused, "PostgreSQL does not accept a value\(column) (SQLSTATE \(state))")
        case "28": return DeliveryError(.unauthorised, "\(text) (SQLSTATE \(state))")
        case "42", "3D", "3F", "0A", "25": return DeliveryError(.unfit, "\(text) (SQLSTATE \(state))")
        case "08", "40", "53", "55", "57", "58": return DeliveryError(.unreachable, "\(text) (SQLSTATE \(state))")
        default: return DeliveryError(.unreachable, "PostgreSQL: SQLSTATE \(state)")
        }
    }
}
