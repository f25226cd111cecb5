/// HealthKit's identifiers begin each word with a capital, ids of ours the first one with a small letter.
extension StringProtocol {
    /// `HeartRate` for `heartRate`.
    var capitalised: String { prefix(1).uppercased() + String(dropFirst()) }

    /// `heartRate` for `HeartRate`.
    var uncapitalised: String { prefix(1).lowercased() + String(dropFirst()) }
}
