extension Catalogue {
    /// Noise, light and water around a person. The columns are explained at ``Catalogue``.
    static let environment = """
        id                          | unit       | HealthKit unit | style | iOS  | possible  | plausible | display name
        environmentalAudioExposure  | dB[SPL]    | dBASPL         | level | 13.0 | -50...250 | 0...140   | Environmental Sound Levels
        environmentalSoundReduction | dB[SPL]    | dBASPL         | level | 16.0 | -50...250 | 0...60    | Environmental Sound Reduction
        headphoneAudioExposure      | dB[SPL]    | dBASPL         | level | 13.0 | -50...250 | 0...140   | Headphone Audio Levels
        uvExposure                  | 1{uvindex} | count          | mean  | 9.0  | 0...      | 0...25    | UV Index
        timeInDaylight              | min        | min            | sum   | 17.0 | 0...      | -         | Time In Daylight
        underwaterDepth             | m          | m              | mean  | 16.0 | 0...      | 0...350   | Underwater Depth
        waterTemperature            | Cel        | degC           | mean  | 16.0 | -50...150 | -3...45   | Water Temperature
        """
}
