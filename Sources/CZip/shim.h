#pragma once
#include <libdeflate.h>
#include <zip.h>
#include <zlib.h>

/// inflateInit2 is a macro. No header stands before a member's octets.
static inline int vitalgate_inflate_begin_bare(z_stream *stream) {
    return inflateInit2(stream, -MAX_WBITS);
}
