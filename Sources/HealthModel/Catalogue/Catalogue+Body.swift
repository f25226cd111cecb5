extension Catalogue {
    /// Body measurements and body temperature. The columns are explained at ``Catalogue``.
    static let body = """
        id                            | unit  | HealthKit unit | style | iOS  | possible  | plausible  | display name
        bodyMass                      | kg    | kg             | mean  | 8.0  | 0...2000  | 0.3...650  | Weight
        bodyMassIndex                 | kg/m2 | count          | mean  | 8.0  | 0...      | 7...210    | Body Mass Index
        bodyFatPercentage             | %     | %              | mean  | 8.0  | 0...100   | 2...75     | Body Fat Percentage
        leanBodyMass                  | kg    | kg             | mean  | 8.0  | 0...2000  | 0.3...300  | Lean Body Mass
        height                        | m     | m              | mean  | 8.0  | 0...100   | 0.2...2.75 | Height
        waistCircumference            | m     | m              | mean  | 11.0 | 0...100   | 0.1...3.5  | Waist Circumference
        bodyTemperature               | Cel   | degC           | mean  | 8.0  | -50...150 | 25...45    | Body Temperature
        basalBodyTemperature          | Cel   | degC           | mean  | 9.0  | -50...150 | 30...42    | Basal Body Temperature
        appleSleepingWristTemperature | Cel   | degC           | mean  | 16.0 | -50...150 | 20...45    | Wrist Temperature
        """
}
