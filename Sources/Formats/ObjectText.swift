import HealthModel

/// The fields of an object beyond those of every sample, as a separate JSON object: `{"activity":"running","duration":1742.5,…}`.
package enum ObjectText {
    /// The object, or `{}` for a quantity, a category, or a body that cannot be read.
    package static func json(of sample: Sample) -> [UInt8] {
        [UInt8(ascii: "{")] + ObjectFields.text(of: sample).dropFirst() + [UInt8(ascii: "}")]
    }
}
