import Wire

/// What a layout demands of octets that are no values: how many are left, what has to stand here, check codes, and octets under a mask.
extension FrameDecoder {
    func guarded(
        _ step: LayoutStep, steps: Range<Int>, _ reader: inout ByteReader, _ word: inout UInt64, _ record: Int32,
        _ frame: inout DecodedFrame
    ) throws(FrameError) {
        let offset = reader.offset
        switch step.kind {
        case .left:
            let sizes = plan.sizes[Int(step.reference)]
            // More than there are, or between two of them: what was cut off is told from another format by the longest.
            guard sizes.contains(reader.remaining) else {
                let isCut = reader.remaining < (sizes.max() ?? 0)
                throw failure(isCut ? .truncated : .notThisFormat, step, at: offset)
            }
            word |= UInt64(reader.remaining) << UInt64(step.wordShift)
        case .expected:
            for octet in plan.literals[Int(step.reference)] {
                guard let next = reader.next else { throw failure(.truncated, step, at: reader.offset) }
                guard next == octet else { throw failure(.notThisFormat, step, at: reader.offset) }
                _ = reader.octets(1)
            }
        case .address:
            guard let octets = reader.octets(6) else { throw failure(.truncated, step, at: offset) }
            guard let address = secrets.address else { return }
            let isSame = step.isReversed ? octets.reversed().elementsEqual(address) : octets.elementsEqual(address)
            guard isSame else { throw failure(.notThisFormat, step, at: offset) }
        case .check:
            let rule = plan.checks[Int(step.reference)]
            let covered = reader.octets(since: 0).dropFirst(rule.from)
            guard let octet = reader.octets(1)?.first else { throw failure(.truncated, step, at: offset) }
            guard octet & rule.mask == rule.code(of: covered) & rule.mask else { throw failure(.checkCode, step, at: offset) }
        default:
            try unmask(step, steps, &reader, &word, record, &frame)
        }
    }

    /// Goes on with the rest of the steps in what is left once a mask is taken off it.
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
        guard let octets = reader.octets(reader.remaining) else { return }
        let plain = octets.enumerated().map { $1 ^ key[$0 % key.count] }
        try run(steps, inside: plain, at: offset, &word, record, &frame)
    }

    /// Walks steps in octets that something else was made of; offsets count from where that begins.
    func run(
        _ steps: Range<Int>, inside octets: [UInt8], at offset: Int, _ word: inout UInt64, _ record: Int32,
        _ frame: inout DecodedFrame
    ) throws(FrameError) {
        var inside = word
        let outcome = octets.withUnsafeBytes { bytes -> Result<Void, FrameError> in
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
    /// How an octet is made of those in front of it.
    struct Check: Sendable {
        enum Kind: String, Sendable, CaseIterable {
            case xor8, sum8
            /// Polynomial x⁸+x²+x+1 (07), nothing in front, highest bit first.
            case crc8
            /// Polynomial x⁸+x⁵+x⁴+1 (31), nothing in front, lowest bit first: Maxim's.
            case crc8Maxim = "crc8-maxim"
        }

        var kind: Kind
        /// The first octet that counts.
        var from = 0
        /// What it begins with.
        var start: UInt8 = 0
        /// The bits that count.
        var mask: UInt8 = 0xFF

        func code(of octets: some Sequence<UInt8>) -> UInt8 {
            switch kind {
            case .xor8: octets.reduce(start) { $0 ^ $1 }
            case .sum8: octets.reduce(start) { $0 &+ $1 }
            case .crc8:
                octets.reduce(start) { code, octet in
                    (0..<8).reduce(code ^ octet) { code, _ in code & 0x80 == 0 ? code << 1 : code << 1 ^ 0x07 }
                }
            case .crc8Maxim:
                octets.reduce(start) { code, octet in
                    (0..<8).reduce(code ^ octet) { code, _ in code & 1 == 0 ? code >> 1 : code >> 1 ^ 0x8C }
                }
            }
        }
    }
}
