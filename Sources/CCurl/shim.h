#pragma once
#include <curl/curl.h>

/// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift cannot call.
static inline CURLcode vitalgate_curl_set_text(CURL *handle, CURLoption option, const char *text) {
    return curl_easy_setopt(handle, option, text);
}
static inline CURLcode vitalgate_curl_set_number(CURL *handle, CURLoption option, long number) {
    return curl_easy_setopt(handle, option, number);
}
static inline CURLcode vitalgate_curl_set_size(CURL *handle, CURLoption option, curl_off_t size) {
    return curl_easy_setopt(handle, option, size);
}
static inline CURLcode vitalgate_curl_set_pointer(CURL *handle, CURLoption option, const void *pointer) {
    return curl_easy_setopt(handle, option, pointer);
}
typedef size_t (*vitalgate_curl_receiver)(char *octets, size_t size, size_t count, void *context);
static inline CURLcode vitalgate_curl_set_receiver(CURL *handle, CURLoption option, vitalgate_curl_receiver receiver) {
    return curl_easy_setopt(handle, option, receiver);
}
static inline long vitalgate_curl_status(CURL *handle) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}
static inline curl_socket_t vitalgate_curl_socket(CURL *handle) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &socket);
    return socket;
}
