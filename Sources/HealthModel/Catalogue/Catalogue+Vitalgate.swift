extension Catalogue {
    /// Types that sensors deliver and HealthKit does not have, named in HealthKit's style. The columns are explained at ``Catalogue``.
    static let vitalgate = """
        id                         | unit   | style | possible    | plausible   | display name
        bodyFatMass                | kg     | mean  | 0...2000    | 0.05...500  | Body Fat Mass
        muscleMass                 | kg     | mean  | 0...2000    | 0.1...200   | Muscle Mass
        musclePercentage           | %      | mean  | 0...100     | 10...90     | Muscle Percentage
        boneMass                   | kg     | mean  | 0...2000    | 0.05...15   | Bone Mass
        bodyWaterMass              | kg     | mean  | 0...2000    | 0.2...300   | Body Water Mass
        bodyWaterPercentage        | %      | mean  | 0...100     | 20...85     | Body Water Percentage
        softLeanMass               | kg     | mean  | 0...2000    | 0.3...300   | Soft Lean Mass
        fatFreeMass                | kg     | mean  | 0...2000    | 0.3...300   | Fat-Free Mass
        basalMetabolicRate         | kcal/d | mean  | 0...        | 100...10000 | Basal Metabolic Rate
        bodyImpedance              | Ohm    | mean  | 0...        | 50...3000   | Body Impedance
        bloodPressureMean          | mm[Hg] | mean  | 0...500     | 30...250    | Mean Arterial Pressure
        intermediateCuffPressure   | mm[Hg] | mean  | 0...500     | 0...320     | Intermediate Cuff Pressure
        bloodKetone                | mmol/L | mean  | 0...        | 0...30      | Blood Ketone
        heartbeatInterval          | ms     | mean  | 0...        | 150...3000  | Beat-to-Beat (R-R) Interval
        pulseAmplitudeIndex        | %      | mean  | 0...        | 0...100     | Pulse Amplitude Index
        roomTemperature            | Cel    | mean  | -100...150  | -40...60    | Room Temperature
        relativeHumidity           | %      | mean  | 0...100     | 0...100     | Relative Humidity
        barometricPressure         | hPa    | mean  | 0...        | 300...1100  | Barometric Pressure
        particulateMatter2_5       | ug/m3  | mean  | 0...        | 0...5000    | PM2.5
        carbonDioxideConcentration | [ppm]  | mean  | 0...1000000 | 250...50000 | CO2 Concentration
        batteryLevel               | %      | mean  | 0...100     | 0...100     | Battery Level
        heartRateAverage           | /min   | mean  | 1...400     | 20...250    | Average Heart Rate of an Activity
        heartRateMinimum           | /min   | mean  | 1...400     | 10...250    | Minimum Heart Rate of an Activity
        heartRateMaximum           | /min   | mean  | 1...400     | 30...300    | Maximum Heart Rate of an Activity
        totalEnergyBurned          | kcal   | sum   | 0...        | -           | Total Energy
        """
}
