import Wire

/// Checks on bytes that are not values: the number of bytes left, fixed bytes, check codes, and masked bytes.
extension FrameDecoder {
    func guarded(
        _ step: LayoutStep, steps: Range<Int>, _ reader: inout ByteReader, _ word: inout UInt64, _ record: Int32,
        _ frame: inout DecodedFrame
    ) throws(FrameError) {
        let offset = reader.offset
        switch step.kind {
        case .left:
            let sizes = plan.sizes[Int(step.reference)]
            // If the number matches no size, fewer bytes than the longest size mean a truncated frame, and more mean another format.
            guard sizes.contains(reader.remaining) else {
                let isCut = reader.remaining < (sizes.max() ?? 0)
                throw failure(isCut ? .truncated : .notThisFormat, step, at: offset)
            }
            word |= UInt64(reader.remaining) << UInt64(step.wordShift)
        case .expected:
            for byte in plan.literals[Int(step.reference)] {
                guard let next = reader.next else { throw failure(.truncated, step, at: reader.offset) }
                guard next == byte else { throw failure(.notThisFormat, step, at: reader.offset) }
                _ = reader.readBytes(1)
            }
        case .address:
            guard let bytes = reader.readBytes(6) else { throw failure(.truncated, step, at: offset) }
            guard let address = secrets.address else { return }
            let isSame = step.isReversed ? bytes.reversed().elementsEqual(address) : bytes.elementsEqual(address)
            guard isSame else { throw failure(.notThisFormat, step, at: offset) }
        case .check:
            let rule = plan.checks[Int(step.reference)]
            let covered = reader.readBytes(since: 0).dropFirst(rule.from)
            guard let byte = reader.readBytes(1)?.first else { throw failure(.truncated, step, at: offset) }
            guard byte & rule.mask == rule.code(of: covered) & rule.mask else { throw failure(.checkCode, step, at: offset) }
        default:
            try unmask(step, steps, &reader, &word, record, &frame)
        }
    }

    /// Runs the remaining steps on the unmasked rest of the frame.
    private func unmask(
        _ step: LayoutStep, _ steps: Range<Int>, _ reader: inout ByteReader, _ word: inout UInt64, _ record: Int32,
        _ frame: inout DecodedFrame
    ) throws(FrameError) {
        let offset = reader.offset
        var key: [UInt8] = []
        if step.operand >= 0 {
            guard let entry = frame.last(step.operand, record: record) else { throw failure(.truncated, step, at: offset) }
            key = [UInt8(truncatingIfNeeded: entry.raw)]
        } else {
            key = plan.literals[Int(step.reference)]
        }
        guard let bytes = reader.readBytes(reader.remaining) else { return }
        let plain = bytes.enumerated().map { $1 ^ key[$0 % key.count] }
        try run(steps, inside: plain, at: offset, &word, record, &frame)
    }

    /// Runs steps on derived bytes. Offsets in errors count from `offset`.
    func run(
        _ steps: Range<Int>, inside bytes: [UInt8], at offset: Int, _ word: inout UInt64, _ record: Int32,
        _ frame: inout DecodedFrame
    ) throws(FrameError) {
        var inside = word
        let outcome = bytes.withUnsafeBytes { bytes -> Result<Void, FrameError> in
            do throws(FrameError) {
                var reader = ByteReader(bytes)
                try run(steps, &reader, &inside, record: record, &frame)
                guard reader.isAtEnd || frame.mayBeLonger else {
                    throw FrameError(reason: .overlong, offset: reader.offset, field: "")
                }
                return .success(())
            } catch {
                return .failure(FrameError(reason: error.reason, offset: error.offset + offset, field: error.field))
            }
        }
        word = inside
        try outcome.get()
    }
}

extension LayoutPlan {
    /// The computation of a check byte from the bytes before it.
    struct Check: Sendable {
        enum Kind: String, Sendable, CaseIterable {
            case xor8, sum8
            /// Polynomial x⁸+x²+x+1 (07), initial value 0, highest bit first.
            case crc8
            /// Maxim's: polynomial x⁸+x⁵+x⁴+1 (31), initial value 0, lowest bit first.
            case crc8Maxim = "crc8-maxim"
        }

        var kind: Kind
        /// The offset of the first byte that counts.
        var from = 0
        var start: UInt8 = 0
        /// The mask of the bits that count.
        var mask: UInt8 = 0xFF

        func code(of bytes: some Sequence<UInt8>) -> UInt8 {
            switch kind {
            case .xor8: bytes.reduce(start) { $0 ^ $1 }
            case .sum8: bytes.reduce(start) { $0 &+ $1 }
            case .crc8:
                bytes.reduce(start) { code, byte in
                    (0..<8).reduce(code ^ byte) { code, _ in code & 0x80 == 0 ? code << 1 : code << 1 ^ 0x07 }
                }
            case .crc8Maxim:
                bytes.reduce(start) { code, byte in
                    (0..<8).reduce(code ^ byte) { code, _ in code & 1 == 0 ? code >> 1 : code >> 1 ^ 0x8C }
                }
            }
        }
    }
}
