#pragma once
#include <zlib.h>

/// deflateInit2 is a macro; 15 + 16 asks for gzip's head and end.
static inline int vitalgate_gzip_begin(z_stream *stream) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
