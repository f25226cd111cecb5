import HealthModel
import Pipeline

/// Reads samples that a client saves: our own lines as objects, as NDJSON or in JSON.
///
///     let readings = try SavedLines.readings(of: octets, isJSON: false, by: source, registry: registry)
///
/// A client may not set a source or a UUID, because it is the source itself. `syncIdentifier` and `syncVersion` in the metadata make an
/// object an edition of a record.
package enum SavedLines {
    /// The maximum number of objects in a request.
    package static let maximum = 10_000

    /// Returns all readings, each with its place: a line, or its index in the list.
    ///
    /// - Parameter isJSON: whether the text is one object, or one with a list `samples`. If not, each line is an object.
    /// - Throws: `Refusal` for the first object that cannot be read.
    package static func readings(
        of bytes: [UInt8], isJSON: Bool, by source: SourceRevision, registry: OriginRegistry
    ) throws(Refusal) -> [Reading] {
        let result: Result<[Reading], Refusal> = bytes.withUnsafeBytes { bytes in
            do throws(Refusal) {
                return .success(try readings(of: bytes, isJSON: isJSON, LineInterpreter(registry: registry, sender: source)))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func readings(
        of bytes: UnsafeRawBufferPointer, isJSON: Bool, _ interpreter: LineInterpreter
    ) throws(Refusal) -> [Reading] {
        let kind = isJSON ? Place.Kind.record : .line
        var (readings, number, start) = ([Reading](), 1, 0)
        do throws(LineFault) {
            guard UTF8Text.isValid(bytes) else { throw LineFault("it is not UTF-8") }
            for object in isJSON ? try objects(bytes) : [] {
                readings.append(try interpreter.sent(object, at: Place(kind, number)))
                number += 1
            }
            while !isJSON, start < bytes.count {
                let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
                let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                if line.contains(where: { $0 > 0x20 }) {
                    guard readings.count < maximum else { throw LineFault("there are more than \(maximum) objects") }
                    readings.append(try interpreter.sent(try LineObject(line), at: Place(kind, number)))
                }
                (start, number) = (end + 1, number + 1)
            }
            guard !readings.isEmpty else { throw LineFault("there is no object") }
        } catch {
            throw Refusal(error.reason, at: Place(kind, number))
        }
        return readings
    }

    private static func objects(_ bytes: UnsafeRawBufferPointer) throws(LineFault) -> [LineObject] {
        let object = try LineObject(bytes)
        guard object.has("samples") else { return [object] }
        guard object.members.count == 1 else { throw LineFault("only samples are allowed") }
        return try object.objects("samples", atMost: maximum)
    }
}
