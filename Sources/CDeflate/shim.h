#pragma once
#include <libdeflate.h>
#include <zlib.h>

/// deflateInit is a macro.
static inline int vitalgate_deflate_begin(z_stream *stream) {
    return deflateInit(stream, Z_DEFAULT_COMPRESSION);
}

/// inflateInit is a macro.
static inline int vitalgate_inflate_begin(z_stream *stream) {
    return inflateInit(stream);
}
