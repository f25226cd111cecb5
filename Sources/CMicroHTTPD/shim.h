#pragma once
#include <microhttpd.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>

// A GNU extension of poll(2), with the value of Linux.
#ifndef POLLRDHUP
#define POLLRDHUP 0x2000
#endif

/// What a server is started with.
typedef struct {
    int listening;
    unsigned int threads, connections, connections_per_address, idle_seconds;
    size_t connection_memory;
    /// PEM; NULL without TLS.
    const char *certificate, *key;
    /// Called with a request's target, before its headers have come; gives what goes by the request.
    void *(*begin)(void *context, const char *target, struct MHD_Connection *connection);
    /// Called with the address of a new connection, and answers whether it is accepted.
    MHD_AcceptPolicyCallback accept;
    MHD_AccessHandlerCallback handle;
    MHD_RequestCompletedCallback complete;
    MHD_NotifyConnectionCallback connect;
    void *context;
} vitalgate_http_options;

/// The protocols of TLS: 1.2 and newer (RFC 8996 deprecates 1.0 and 1.1). libmicrohttpd hands the text to GnuTLS.
#define VITALGATE_TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/// MHD_start_daemon is variadic, which Swift cannot call. Nothing is logged: its messages name what was asked for.
static inline struct MHD_Daemon *vitalgate_http_start(const vitalgate_http_options *options) {
    const unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME
        | (options->certificate ? MHD_USE_TLS : 0);
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)options->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)options->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)VITALGATE_TLS_PRIORITIES},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        flags, 0, options->accept, options->context, options->handle, options->context,
        MHD_OPTION_LISTEN_SOCKET, options->listening,
        MHD_OPTION_THREAD_POOL_SIZE, options->threads,
        MHD_OPTION_CONNECTION_LIMIT, options->connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, options->connections_per_address,
        MHD_OPTION_CONNECTION_TIMEOUT, options->idle_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_memory,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, options->begin, options->context,
        MHD_OPTION_NOTIFY_COMPLETED, options->complete, options->context,
        MHD_OPTION_NOTIFY_CONNECTION, options->connect, options->context,
        MHD_OPTION_ARRAY, options->certificate ? tls : tls + 3,
        MHD_OPTION_END);
}

/// Whether the library is older than 0.9.77. The library that runs counts, because Debian 12 and 13 have the same soname for 0.9.75 and 1.0.1.
static inline int vitalgate_http_is_before_0_9_77(void) {
    int major = 0, minor = 0, patch = 0;
    sscanf(MHD_get_version(), "%d.%d.%d", &major, &minor, &patch);
    return major == 0 && (minor < 9 || (minor == 9 && patch < 77));
}

/// Whether a header's line ended in CRLF and held no NUL. libmicrohttpd before 0.9.77 ends a line at a bare CR, LF or NUL as well, which
/// another parser may take for a part of the value. It writes one NUL over each character of the line's end, so after a CRLF there are two.
/// Later versions refuse such heads by themselves, and write one NUL.
static inline int vitalgate_http_ends_plainly(const char *value, size_t size) {
    return value == NULL || (value[size] == 0 && value[size + 1] == 0);
}

/// Whether a field is one line of the head. libmicrohttpd before 0.9.77 appends a line that begins with a blank to the field before it
/// (RFC 9112, section 5.2) and moves the value for that. The value of one line follows its name, a NUL over the colon, and blanks.
static inline int vitalgate_http_is_one_line(const char *name, size_t size, const char *value) {
    if (name == NULL || value == NULL) return 1;
    const char *at = name + size + 1;
    if ((uintptr_t)value < (uintptr_t)at) return 0;
    while (at != value && (*at == ' ' || *at == '\t')) at++;
    return at == value;
}

/// MHD_get_connection_info is variadic.
static inline int vitalgate_http_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// Ends a connection if its client has closed its side, also if bytes of it have not been read. Returns whether it did.
static inline int vitalgate_http_end_if_left(int socket) {
    struct pollfd polled = {.fd = socket, .events = POLLRDHUP};
    if (poll(&polled, 1, 0) <= 0) return 0;
    shutdown(socket, SHUT_RDWR);
    return 1;
}

/// Whether a client has closed its side, and all that it sent has been read.
static inline int vitalgate_http_has_left(int socket) {
    char byte;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/// MHD_get_connection_info is variadic.
static inline const struct sockaddr *vitalgate_http_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

/// MHD_get_daemon_info is variadic.
static inline unsigned int vitalgate_http_connections(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info ? info->num_connections : 0;
}

/// Macros with casts.
static const ssize_t vitalgate_http_end = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t vitalgate_http_failed = MHD_CONTENT_READER_END_WITH_ERROR;
static const uint64_t vitalgate_http_unknown = MHD_SIZE_UNKNOWN;

#include <sys/eventfd.h>
/// eventfd(2) is not among what Swift's Glibc knows.
static inline int vitalgate_http_bell(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
