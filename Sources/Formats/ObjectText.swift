import HealthModel

/// What a line says of an object beyond what every sample has, as a JSON object by itself: `{"activity":"running","duration":1742.5,…}`.
public enum ObjectText {
    /// The object; `{}` for a quantity, a category, and a body that cannot be read.
    public static func json(of sample: Sample) -> [UInt8] {
        [UInt8(ascii: "{")] + ObjectFields.text(of: sample).dropFirst() + [UInt8(ascii: "}")]
    }
}
