/// The result of a hearing test (`HKAudiogramSample`).
public struct Audiogram: Hashable, Sendable, Codable {
    /// The hearing of one ear at one frequency (`HKAudiogramSensitivityTest`).
    public struct Ear: Hashable, Sendable, Codable {
        /// The softest tone that was heard, in dB of hearing level.
        public var sensitivity: Amount
        /// Whether the other ear was masked with noise.
        public var masked: Bool?
        /// The lower limit of the device. A sensitivity equal to it may be lower.
        public var clampedBelow: Amount?
        /// The upper limit of the device.
        public var clampedAbove: Amount?

        /// One ear's test.
        public init(sensitivity: Amount, masked: Bool? = nil, clampedBelow: Amount? = nil, clampedAbove: Amount? = nil) {
            (self.sensitivity, self.masked) = (sensitivity, masked)
            (self.clampedBelow, self.clampedAbove) = (clampedBelow, clampedAbove)
        }
    }

    /// The hearing of both ears at one frequency (`HKAudiogramSensitivityPoint`).
    public struct Point: Hashable, Sendable, Codable {
        /// The frequency in Hz.
        public var frequency: Amount
        /// The left ear, or `nil` if it was not tested.
        public var left: Ear?
        /// The right ear, or `nil` if it was not tested.
        public var right: Ear?

        /// A point with its parts.
        public init(frequency: Amount, left: Ear?, right: Ear?) {
            (self.frequency, self.left, self.right) = (frequency, left, right)
        }
    }

    /// The points in the received order.
    public var sensitivity: [Point]

    /// An audiogram of these points.
    public init(sensitivity: [Point]) { self.sensitivity = sensitivity }
}

extension Audiogram: ObjectBody {}
