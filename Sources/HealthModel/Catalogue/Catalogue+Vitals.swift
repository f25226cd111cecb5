extension Catalogue {
    /// Heart, lungs, blood and other clinical measurements. The columns are explained at ``Catalogue``.
    static let vitals = """
        id                                 | unit      | HealthKit unit | style    | iOS  | possible   | plausible | display name
        heartRate                          | /min      | count/s        | weighted | 8.0  | 1...400    | 20...300  | Heart Rate
        restingHeartRate                   | /min      | count/min      | weighted | 11.0 | 1...400    | 20...200  | Resting Heart Rate
        walkingHeartRateAverage            | /min      | count/min      | weighted | 11.0 | 1...400    | 30...220  | Walking Heart Rate Average
        heartRateRecoveryOneMinute         | /min      | count/min      | mean     | 16.0 | -400...400 | -20...120 | Cardio Recovery
        heartRateVariabilitySDNN           | ms        | ms             | mean     | 11.0 | 0...       | 1...500   | Heart Rate Variability
        atrialFibrillationBurden           | %         | %              | weighted | 16.0 | 0...100    | 0...100   | AFib History
        bloodPressureSystolic              | mm[Hg]    | mmHg           | mean     | 8.0  | 0...500    | 40...300  | Systolic Blood Pressure
        bloodPressureDiastolic             | mm[Hg]    | mmHg           | mean     | 8.0  | 0...500    | 20...200  | Diastolic Blood Pressure
        oxygenSaturation                   | %         | %              | mean     | 8.0  | 0...100    | 50...100  | Blood Oxygen
        peripheralPerfusionIndex           | %         | %              | mean     | 8.0  | 0...       | 0.02...30 | Peripheral Perfusion Index
        respiratoryRate                    | /min      | count/s        | mean     | 8.0  | 0...400    | 2...100   | Respiratory Rate
        appleSleepingBreathingDisturbances | /h        | count          | mean     | 18.0 | 0...       | -         | Breathing Disturbances
        forcedExpiratoryVolume1            | L         | L              | mean     | 8.0  | 0...       | 0.1...9   | Forced Expiratory Volume, 1 sec
        forcedVitalCapacity                | L         | L              | mean     | 8.0  | 0...       | 0.1...12  | Forced Vital Capacity
        peakExpiratoryFlowRate             | L/min     | L/min          | mean     | 8.0  | 0...       | 30...1000 | Peak Expiratory Flow Rate
        inhalerUsage                       | 1{puff}   | count          | sum      | 8.0  | 0...       | -         | Inhaler Usage
        vo2Max                             | mL/kg/min | ml/(kg*min)    | mean     | 11.0 | 0...       | 5...100   | Cardio Fitness
        bloodGlucose                       | mg/dL     | mg/dL          | mean     | 8.0  | 0...3000   | 10...1000 | Blood Glucose
        insulinDelivery                    | [iU]      | IU             | sum      | 11.0 | 0...       | 0...500   | Insulin Delivery
        bloodAlcoholContent                | %         | %              | mean     | 8.0  | 0...100    | 0...1.5   | Blood Alcohol Content
        numberOfAlcoholicBeverages         | 1{drinks} | count          | sum      | 15.0 | 0...       | -         | Alcohol Consumption
        numberOfTimesFallen                | 1{falls}  | count          | sum      | 8.0  | 0...       | -         | Number of Times Fallen
        electrodermalActivity              | S         | S              | mean     | 8.0  | 0...       | -         | Electrodermal Activity
        """
}
