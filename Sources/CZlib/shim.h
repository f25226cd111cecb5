#pragma once
#include <zlib.h>

/// deflateInit2 and inflateInit2 are macros.
static inline int vitalgate_deflate_begin(z_stream *stream, int level, int window) {
    return deflateInit2(stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
}
static inline int vitalgate_inflate_begin(z_stream *stream, int window) {
    return inflateInit2(stream, window);
}
