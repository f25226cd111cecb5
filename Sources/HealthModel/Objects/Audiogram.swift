/// How well ears hear (`HKAudiogramSample`).
public struct Audiogram: Hashable, Sendable, Codable {
    /// What one ear hears at one frequency (`HKAudiogramSensitivityTest`).
    public struct Ear: Hashable, Sendable, Codable {
        /// The softest tone that was heard, in dB of hearing level.
        public var sensitivity: Amount
        /// Whether the other ear was kept busy with noise.
        public var masked: Bool?
        /// What the device can measure at the least; a sensitivity of just this may be lower.
        public var clampedBelow: Amount?
        /// What the device can measure at the most.
        public var clampedAbove: Amount?

        /// One ear's test.
        public init(sensitivity: Amount, masked: Bool? = nil, clampedBelow: Amount? = nil, clampedAbove: Amount? = nil) {
            (self.sensitivity, self.masked) = (sensitivity, masked)
            (self.clampedBelow, self.clampedAbove) = (clampedBelow, clampedAbove)
        }
    }

    /// What both ears hear at one frequency (`HKAudiogramSensitivityPoint`).
    public struct Point: Hashable, Sendable, Codable {
        /// In Hz.
        public var frequency: Amount
        /// `nil` where it was not tested.
        public var left: Ear?
        /// `nil` where it was not tested.
        public var right: Ear?

        /// A point of its parts.
        public init(frequency: Amount, left: Ear?, right: Ear?) {
            (self.frequency, self.left, self.right) = (frequency, left, right)
        }
    }

    /// In the order told.
    public var sensitivity: [Point]

    /// An audiogram of these points.
    public init(sensitivity: [Point]) { self.sensitivity = sensitivity }
}
