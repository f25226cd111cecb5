import HealthModel
import Pipeline

/// Reads what a program sends to be saved: our own lines, each an object, as NDJSON or within JSON.
///
///     let readings = try SavedLines.readings(of: octets, isJSON: false, by: source, registry: registry)
///
/// A source and a UUID are not the program's to say: the source is whoever sends. `syncIdentifier` and `syncVersion` in an object's metadata make it an
/// edition of a record.
public enum SavedLines {
    /// Objects that are taken at once.
    public static let most = 10_000

    /// All of them, each with its place: a line, or its number in the list.
    ///
    /// - Parameter isJSON: one object, or one with a list `samples`; else a line each.
    /// - Throws: `Refusal` of the first that cannot be read.
    public static func readings(
        of octets: [UInt8], isJSON: Bool, by source: SourceRevision, registry: OriginRegistry
    ) throws(Refusal) -> [Reading] {
        let result: Result<[Reading], Refusal> = octets.withUnsafeBytes { bytes in
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
            guard isUTF8(bytes) else { throw LineFault("it is no UTF-8") }
            for object in isJSON ? try objects(bytes) : [] {
                readings.append(try interpreter.sent(object, at: Place(kind, number)))
                number += 1
            }
            while !isJSON, start < bytes.count {
                let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.count
                let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                if line.contains(where: { $0 > 0x20 }) {
                    guard readings.count < most else { throw LineFault("there are more than \(most) objects") }
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

    /// One object, or those of the list.
    private static func objects(_ bytes: UnsafeRawBufferPointer) throws(LineFault) -> [LineObject] {
        let object = try LineObject(bytes)
        guard object.has("samples") else { return [object] }
        guard object.members.count == 1 else { throw LineFault("beside samples there is nothing") }
        return try object.objects("samples", atMost: most)
    }
}
