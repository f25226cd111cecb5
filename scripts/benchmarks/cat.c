// The peer of the row of the API: sends a file as the hub sends samples, on the same library with the same settings, and does nothing else.
//
//     cat FILE    prints the port, and serves until its input ends
#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *path;

static ssize_t next_piece(void *context, uint64_t position, char *buffer, size_t size) {
    (void)position;
    ssize_t count = read((int)(intptr_t)context, buffer, size);
    return count > 0 ? count : count == 0 ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void done(void *context) { close((int)(intptr_t)context); }

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
                              const char *data, size_t *size, void **request) {
    (void)context, (void)url, (void)method, (void)version, (void)data, (void)size;
    static int seen;
    if (*request == NULL) {
        *request = &seen;
        return MHD_YES;
    }
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return MHD_NO;
    struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 32768, next_piece, (void *)(intptr_t)file, done);
    MHD_add_response_header(response, "Content-Type", "application/x-ndjson");
    enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return result;
}

int main(int count, char **words) {
    if (count != 2) return 64;
    path = words[1];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, NULL, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
        MHD_OPTION_THREAD_POOL_SIZE, 2u, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768, MHD_OPTION_END);
    if (daemon == NULL) return 69;
    printf("%d\n", (int)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    while (getchar() != EOF) {}
    MHD_stop_daemon(daemon);
    return 0;
}
