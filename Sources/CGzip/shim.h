#pragma once
#include <zlib.h>

/// deflateInit2 is a macro; 15 + 16 asks for gzip's head and end, and the fastest level is what a small machine keeps up with.
static inline int vitalgate_gzip_stream_begin(z_stream *stream) {
    return deflateInit2(stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
