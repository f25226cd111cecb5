#pragma once
#include <zlib.h>

/// deflateInit2 is a macro. What is short needs no window of 32 KiB and no memory of 256 KiB, which take longer to clear than it to pack.
static inline int vitalgate_deflate_begin(z_stream *stream, int is_short) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, is_short ? 12 : 15, is_short ? 5 : 8, Z_DEFAULT_STRATEGY);
}

/// inflateInit is a macro.
static inline int vitalgate_inflate_begin(z_stream *stream) {
    return inflateInit(stream);
}
