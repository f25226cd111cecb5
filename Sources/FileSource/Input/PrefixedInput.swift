import Pipeline

/// A stream whose first bytes can be examined before they are read.
final class PrefixedInput: ByteInput {
    private let input: any ByteInput
    private var prefix: [UInt8] = []
    private var position = 0

    init(_ input: any ByteInput) { self.input = input }

    /// Passes the first bytes to `body`, `count` of them unless the input is shorter. Nothing may have been read before.
    func look<Result>(at count: Int, _ body: (UnsafeRawBufferPointer) -> Result) throws(SourceError) -> Result {
        let filled = prefix.count
        if filled < count {
            prefix.append(contentsOf: repeatElement(0, count: count - filled))
            let answer: Swift.Result<Int, SourceError> = prefix.withUnsafeMutableBytes { buffer in
                do throws(SourceError) {
                    return .success(try input.fill(UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])))
                } catch {
                    return .failure(error)
                }
            }
            prefix.removeLast(count - filled - (try answer.get()))
        }
        return prefix.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
    }

    func skip(_ count: Int) { position = min(position + count, prefix.count) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        guard position < prefix.count else { return try input.read(into: buffer) }
        let count = min(buffer.count, prefix.count - position)
        buffer.copyBytes(from: prefix[position..<position + count])
        position += count
        return count
    }
}
