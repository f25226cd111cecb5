import HealthModel
import SQLiteKit

extension SQLiteResult {
    /// Passes a hash to SQLite in the form in which it is stored.
    @inline(__always)
    func give(hash high: UInt16, _ low: UInt64) {
        withUnsafeBytes(of: HashBytes(high: high, low: low)) { give(bytes: $0) }
    }

    /// Passes a UUID to SQLite as text.
    func give(_ identity: SampleIdentity) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SampleIdentity.textLength) {
            let length = identity.write(into: $0)
            give(text: UnsafeRawBufferPointer(start: $0.baseAddress, count: length))
        }
    }
}
