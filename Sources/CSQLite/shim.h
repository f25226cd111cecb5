#pragma once
#include <sqlite3.h>

/// SQLITE_STATIC is a macro with a cast, which Swift does not import: the bytes stay valid while the call runs.
static const sqlite3_destructor_type vitalgate_sqlite_static = ((sqlite3_destructor_type)0);
/// SQLITE_TRANSIENT, likewise: SQLite copies the bytes.
static const sqlite3_destructor_type vitalgate_sqlite_transient = ((sqlite3_destructor_type)-1);

/// An extended result code: computed from another macro, which Swift does not import.
static const int vitalgate_sqlite_busy_snapshot = SQLITE_BUSY_SNAPSHOT;
static const int vitalgate_sqlite_shared_memory_size = SQLITE_IOERR_SHMSIZE;
static const int vitalgate_sqlite_shared_memory_map = SQLITE_IOERR_SHMMAP;
static const int vitalgate_sqlite_no_memory = SQLITE_IOERR_NOMEM;

/// sqlite3_config is variadic, which Swift cannot call: memory statistics are off, their lock costs more than a row's bind.
static inline int vitalgate_sqlite_without_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/// The operating system's last error for the database file or its log, or 0 (SQLITE_FCNTL_LAST_ERRNO).
static inline int vitalgate_sqlite_last_errno(sqlite3 *handle) {
    int number = 0;
    sqlite3_file *log = 0;
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    if (number != 0 || sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK) return number;
    if (log != 0 && log->pMethods != 0) log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}
