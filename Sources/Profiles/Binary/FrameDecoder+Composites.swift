import HealthModel
import Wire

extension FrameDecoder {
    /// Reads consecutive records up to the end. The first byte of each is its size, including that byte.
    func records(_ step: LayoutStep, _ reader: inout ByteReader, _ frame: inout DecodedFrame) throws(FrameError) {
        let inner = plan.inner[Int(step.reference)]
        var number: Int32 = 0
        repeat {
            let offset = reader.offset
            guard let size = reader.next else { throw failure(.truncated, step, at: offset) }
            // A size of 0 would read the same byte forever.
            guard size > 0 else { throw failure(.size, step, at: offset) }
            if number > 0, isCut(step, Int(size), &reader, &frame) { return }
            guard var window = reader.window(Int(size)) else { throw failure(.truncated, step, at: offset) }
            let entry = frame.entries.count
            frame.entries.append(.init(kind: .record, field: step.field, record: number))
            var word: UInt64 = 0
            frame.mayBeLonger = false
            try run(inner, &window, &word, record: number, &frame)
            guard window.isAtEnd || frame.mayBeLonger else { throw failure(.size, step, at: window.offset) }
            frame.entries[entry].raw = Int64(bitPattern: word)
            _ = reader.readBytes(Int(size))
            number += 1
        } while !reader.isAtEnd
    }

    /// Reads objects that consist of an id and a value, with ascending ids. The length of an unknown object is not known either, so it ends
    /// the list, and the objects before it count (BTHome v2, "Sensor data").
    func objects(_ step: LayoutStep, _ reader: inout ByteReader, _ frame: inout DecodedFrame) throws(FrameError) {
        let list = plan.objectLists[Int(step.reference)]
        if list.hasLength { return try measuredObjects(list, step, &reader, &frame) }
        var number: Int32 = 0
        var last: UInt8 = 0
        if reader.isAtEnd { throw failure(.truncated, step, at: reader.offset) }
        while let id = reader.next {
            let offset = reader.offset
            guard let steps = list.steps[UInt16(id)] else {
                frame.entries.append(.init(kind: .unknownObject, field: step.field, raw: Int64(id)))
                _ = reader.readBytes(reader.remaining)
                return
            }
            if id < last {
                if isStrict { throw failure(.order, plan.steps[steps.lowerBound], at: offset) }
                frame.hasReserved = true
            }
            last = id
            _ = reader.readBytes(1)
            try object(steps, number, step, &reader, &frame)
            number += 1
        }
    }

    /// Reads objects that contain their length, so that unknown ones can be skipped. Ids come in any order.
    private func measuredObjects(
        _ list: LayoutPlan.ObjectList, _ step: LayoutStep, _ reader: inout ByteReader, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        var number: Int32 = 0
        repeat {
            let offset = reader.offset
            guard let id = reader.unsigned(list.idWidth), let length = reader.unsigned(1),
                var window = reader.window(Int(length))
            else { throw failure(.truncated, step, at: offset) }
            if let steps = list.steps[UInt16(id)] {
                do throws(FrameError) {
                    try object(steps, number, step, &window, &frame)
                } catch {
                    // The length does not fit this object. The frame itself is complete.
                    throw error.reason == .truncated ? failure(.size, step, at: offset) : error
                }
                guard window.isAtEnd else { throw failure(.size, step, at: offset) }
                number += 1
            }
            _ = reader.readBytes(Int(length))
        } while !reader.isAtEnd
    }

    private func object(
        _ steps: Range<Int>, _ number: Int32, _ step: LayoutStep, _ reader: inout ByteReader, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        var word: UInt64 = 0
        let entry = frame.entries.count
        frame.entries.append(.init(kind: .record, field: step.field, record: number))
        try run(steps, &reader, &word, record: number, &frame)
        frame.entries[entry].raw = Int64(bitPattern: word)
    }

    /// Runs the remaining steps on the decrypted bytes.
    func open(
        _ step: LayoutStep, steps: Range<Int>, _ reader: inout ByteReader, _ word: inout UInt64, _ record: Int32,
        _ frame: inout DecodedFrame
    ) throws(FrameError) {
        frame.isSealed = true
        let offset = reader.offset
        let seal = FrameSeal.allCases[Int(step.reference)]
        let header = reader.readBytes(since: 0)
        guard let sealed = reader.readBytes(reader.remaining), sealed.count >= seal.overhead else {
            throw FrameError(reason: .truncated, offset: offset, field: "")
        }
        guard let key = secrets.bindKey, let address = secrets.address else {
            throw FrameError(reason: .keyMissing, offset: offset, field: "")
        }
        guard let plaintext = seal.open(header, sealed, key: key, address: address) else {
            throw FrameError(reason: .notAuthentic, offset: offset, field: "")
        }
        frame.counter = seal.counter(header, sealed)
        try run(steps, inside: plaintext, at: offset, &word, record, &frame)
    }

    /// Computes a field from other fields.
    func compute(
        _ step: LayoutStep, _ word: UInt64, _ record: Int32, at offset: Int, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        switch step.kind {
        case .product:
            guard var entry = frame.last(step.reference, record: record) else { return }
            entry.field = step.field
            entry.variant = -1
            for index in step.variants where plan.variants[Int(index)].condition.matches(word) {
                entry.variant = index
                break
            }
            if entry.kind == .number {
                (entry.coefficient, entry.exponent) = try scaled(entry.coefficient, entry.exponent, entry.variant, step, offset)
            }
            frame.entries.append(entry)
        case .timeSum:
            guard let time = frame.last(step.reference, record: record), time.kind == .dateTime,
                var wall = DeviceDateTime(packed: time.raw).wallTime
            else { return }
            if let minutes = frame.last(step.operand, record: record), minutes.kind == .number {
                guard let later = wall.later(minutes: minutes.raw) else { throw failure(.noSuchTime, step, at: offset) }
                wall = later
            }
            guard let sum = DeviceDateTime(wall) else { return }
            frame.entries.append(.init(kind: .dateTime, field: step.field, raw: sum.packed, record: record))
        case .truth:
            // The step's condition decides whether there is a value at all, and the first variant's condition is the value.
            let matches = plan.variants[Int(step.variants.lowerBound)].condition.matches(word)
            frame.entries.append(.init(kind: .truth, field: step.field, raw: matches ? 1 : 0, record: record))
        case .joined:
            var raw: UInt64 = 0
            for index in step.parts {
                let part = plan.parts[Int(index)]
                raw = raw << UInt64(part.width) | part.value(of: word)
            }
            var entry = DecodedFrame.Entry(
                kind: .number, field: step.field, raw: Int64(bitPattern: raw), variant: variant(step, word), record: record)
            let specials = plan.specials[Int(step.specials.lowerBound)..<Int(step.specials.upperBound)]
            if let special = specials.first(where: { $0.raw == entry.raw }) {
                entry.kind = .special
                entry.special = special.name
            } else {
                (entry.coefficient, entry.exponent) = try scaled(entry.raw, 0, entry.variant, step, offset)
            }
            frame.entries.append(entry)
        case .quotient, .remainder:
            guard var entry = frame.last(step.reference, record: record) else { return }
            entry.field = step.field
            entry.variant = variant(step, word)
            if entry.kind == .number {
                let divisor = Int64(step.operand)
                // The quotient of a negative number is truncated toward zero, and the remainder is that of its magnitude.
                entry.raw = step.kind == .quotient ? entry.raw / divisor : Int64((entry.raw % divisor).magnitude)
                (entry.coefficient, entry.exponent) = try scaled(entry.raw, 0, entry.variant, step, offset)
            }
            frame.entries.append(entry)
        case .total: try total(step, word, record, at: offset, &frame)
        case .missing:
            frame.entries.append(
                .init(
                    kind: .special, field: step.field, special: plan.specials[Int(step.specials.lowerBound)].name,
                    variant: variant(step, word), record: record))
        default:
            frame.entries.append(.init(kind: .constant, field: step.field, record: record))
        }
    }
}

extension FrameDecoder {
    /// Computes the sum of several fields. If one of them is not a number, the result is its special word.
    private func total(
        _ step: LayoutStep, _ word: UInt64, _ record: Int32, at offset: Int, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        let rule = plan.totals[Int(step.reference)]
        var sum: (Int64, Int16) = (0, 0)
        var entry = DecodedFrame.Entry(kind: .number, field: step.field, variant: variant(step, word), record: record)
        for field in rule.fields {
            guard let part = frame.last(field, record: record) else { return }
            guard part.kind == .number else {
                entry.kind = .special
                entry.special = part.special
                continue
            }
            guard let next = Self.sum(sum, (part.coefficient, part.exponent)) else {
                throw failure(.prohibited, step, at: offset)
            }
            sum = next
        }
        if entry.kind == .number {
            if rule.minus?.matches(word) == true {
                let (negative, overflow) = (0 as Int64).subtractingReportingOverflow(sum.0)
                if overflow { throw failure(.prohibited, step, at: offset) }
                sum.0 = negative
            }
            (entry.coefficient, entry.exponent) = try scaled(sum.0, sum.1, entry.variant, step, offset)
            entry.raw = entry.coefficient
        }
        frame.entries.append(entry)
    }
}

extension LayoutPlan {
    static let reservedName: Int16 = name(of: .reserved)

    static func name(of special: MedicalNumber.Special) -> Int16 {
        switch special {
        case .notANumber: 0
        case .notAtThisResolution: 1
        case .positiveInfinity: 2
        case .negativeInfinity: 3
        case .reserved: 4
        }
    }
}
