import CompressionKit
import Pipeline

extension InputFile {
    /// Whether the file is compressed with gzip, such as the `….fit.gz` in Strava's archive.
    private var isGzip: Bool { begins(3) { $0.elementsEqual([0x1F, 0x8B, 0x08]) } }

    /// Returns the file, or its uncompressed content if it is compressed with gzip.
    ///
    /// - Throws: ``SourceError`` if the compressed file is damaged. Nothing of it is returned then, because its checksum is at its end.
    package func unpacked() throws(SourceError) -> InputFile {
        guard isGzip else { return self }
        let input = GzipInput(FileInput(self), size: size)
        return try InputFile(in: spoolFolders) { append throws(SourceError) in
            try input.forEachPart { part throws(SourceError) in try append(part) }
        }
    }

    /// Returns the file, or its text in UTF-8 if it is an activity or a route in UTF-16.
    ///
    /// Documents are not converted, because they are stored byte for byte.
    package func inUTF8() throws(SourceError) -> InputFile {
        let isWide = begins(4096) { head in
            guard ExportProlog.isWide(head) else { return false }
            let narrow = String(decoding: head.lazy.filter { $0 != 0 }, as: UTF8.self)
            return narrow.contains("<\(TCXFile.root)") || narrow.contains("<\(GPXFile.root)")
        }
        guard isWide else { return self }
        let input = FileInput(self)
        return try InputFile(in: spoolFolders) { append throws(SourceError) in
            let buffer = try TextBuffer(input, maximum: 1 << 20)
            // The declaration names the encoding of the original.
            buffer.skipXMLDeclaration()
            repeat {
                try append(UnsafeRawBufferPointer(start: buffer.base + buffer.start, count: buffer.end - buffer.start))
                buffer.start = buffer.end
            } while try buffer.refill()
        }
    }
}

/// Decompresses gzip data (RFC 1952), also several members in sequence.
private final class GzipInput {
    private let input: FileInput
    private let size: Int64
    private static let limits = ZipArchive.Limits()

    init(_ input: FileInput, size: Int64) { (self.input, self.size) = (input, size) }

    func forEachPart(_ body: (UnsafeRawBufferPointer) throws(SourceError) -> Void) throws(SourceError) {
        let packed = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer {
            packed.deallocate()
            room.deallocate()
        }
        var (rest, stream, total) = (0..<0, nil as InflateStream?, Int64(0))
        while true {
            if rest.isEmpty { rest = 0..<(try input.read(into: packed)) }
            if rest.isEmpty {
                guard stream == nil else { throw Self.damage("it ends in the middle") }
                return
            }
            if stream == nil {
                // Some programs fill the file up with zeros.
                guard packed[rest.lowerBound] != 0 else {
                    rest.removeFirst()
                    continue
                }
                stream = InflateStream(.gzip)
            }
            guard let open = stream else { throw SourceError(.inputOutput, "out of memory") }
            let step = open.decompress(UnsafeRawBufferPointer(rebasing: packed[rest]), into: room)
            rest.removeFirst(step.read)
            total += Int64(step.written)
            guard total <= Self.limits.free || (total <= Self.limits.total && total / Self.limits.ratio <= size) else {
                throw Self.damage("it decompresses to more than \(Self.limits.ratio) times its size")
            }
            try body(UnsafeRawBufferPointer(rebasing: room[..<step.written]))
            switch step.state {
            case .open: break
            case .ended: stream = nil
            case .damaged: throw Self.damage("it cannot be decompressed")
            }
        }
    }

    private static func damage(_ reason: String) -> SourceError {
        SourceError(.malformed, "the gzip file is damaged: \(reason) (nothing was imported)")
    }
}
