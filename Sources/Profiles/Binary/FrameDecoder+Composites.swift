import HealthModel
import Wire

extension FrameDecoder {
    /// Records one behind the other up to the end; each begins with an octet that tells its size, itself included.
    func records(_ step: LayoutStep, _ reader: inout ByteReader, _ frame: inout DecodedFrame) throws(FrameError) {
        let inner = plan.inner[Int(step.reference)]
        var number: Int32 = 0
        repeat {
            let offset = reader.offset
            guard let size = reader.next else { throw failure(.truncated, step, at: offset) }
            // A size of 0 must not read the same octet for ever.
            guard size > 0 else { throw failure(.size, step, at: offset) }
            guard var window = reader.window(Int(size)) else { throw failure(.truncated, step, at: offset) }
            let entry = frame.entries.count
            frame.entries.append(.init(kind: .record, field: step.field, record: number))
            var word: UInt64 = 0
            frame.mayBeLonger = false
            try run(inner, &window, &word, record: number, &frame)
            guard window.isAtEnd || frame.mayBeLonger else { throw failure(.size, step, at: window.offset) }
            frame.entries[entry].raw = Int64(bitPattern: word)
            _ = reader.octets(Int(size))
            number += 1
        } while !reader.isAtEnd
    }

    /// Objects of an id and a value each, ids rising; the length of an object with an unknown id is not known either, so it ends
    /// the list and what came before counts (BTHome v2, "Sensor data").
    func objects(_ step: LayoutStep, _ reader: inout ByteReader, _ frame: inout DecodedFrame) throws(FrameError) {
        let table = plan.objectTables[Int(step.reference)]
        var number: Int32 = 0
        var last = 0
        if reader.isAtEnd { throw failure(.truncated, step, at: reader.offset) }
        while let id = reader.next {
            let offset = reader.offset
            let target = table[Int(id)]
            guard target >= 0 else {
                frame.entries.append(.init(kind: .unknownObject, field: step.field, raw: Int64(id)))
                _ = reader.octets(reader.remaining)
                return
            }
            if Int(id) < last {
                if isStrict { throw failure(.order, plan.steps[Int(target)], at: offset) }
                frame.hasReserved = true
            }
            last = Int(id)
            _ = reader.octets(1)
            var word: UInt64 = 0
            frame.entries.append(.init(kind: .record, field: step.field, record: number))
            try run(Int(target)..<(Int(target) + 1), &reader, &word, record: number, &frame)
            number += 1
        }
    }

    /// Goes on with the rest of the steps in what encryption hid.
    func open(
        _ step: LayoutStep, steps: Range<Int>, _ reader: inout ByteReader, _ word: inout UInt64, _ record: Int32,
        _ frame: inout DecodedFrame
    ) throws(FrameError) {
        frame.isSealed = true
        let offset = reader.offset
        let information = reader.octets(since: 0).last ?? 0
        guard let sealed = reader.octets(reader.remaining), sealed.count >= BTHomeSeal.overhead else {
            throw FrameError(reason: .truncated, offset: offset, field: "")
        }
        guard let key = secrets.bindKey, let address = secrets.address else {
            throw FrameError(reason: .keyMissing, offset: offset, field: "")
        }
        guard let plaintext = BTHomeSeal.open(sealed, information: information, key: key, address: address) else {
            throw FrameError(reason: .notAuthentic, offset: offset, field: "")
        }
        frame.counter = BTHomeSeal.counter(sealed)
        var inside = word
        let outcome = plaintext.withUnsafeBytes { bytes -> Result<Void, FrameError> in
            do throws(FrameError) {
                var reader = ByteReader(bytes)
                try run(steps, &reader, &inside, record: record, &frame)
                guard reader.isAtEnd || frame.mayBeLonger else {
                    throw FrameError(reason: .overlong, offset: reader.offset, field: "")
                }
                return .success(())
            } catch {
                // Offsets inside count from where the encrypted octets begin.
                return .failure(FrameError(reason: error.reason, offset: error.offset + offset, field: error.field))
            }
        }
        word = inside
        try outcome.get()
    }

    /// Fields that are computed of others.
    func compute(
        _ step: LayoutStep, _ word: UInt64, _ record: Int32, at offset: Int, _ frame: inout DecodedFrame
    ) throws(FrameError) {
        switch step.kind {
        case .product:
            guard var entry = frame.last(step.reference, record: record) else { return }
            entry.field = step.field
            entry.variant = -1
            for index in step.variants where plan.variants[Int(index)].condition.holds(word) {
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
            // The step's condition tells when it can be said at all; the first variant's, whether it is so.
            let holds = plan.variants[Int(step.variants.lowerBound)].condition.holds(word)
            frame.entries.append(.init(kind: .truth, field: step.field, raw: holds ? 1 : 0, record: record))
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
