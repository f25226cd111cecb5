/// A published equation that estimates body composition from impedance, height and weight.
///
/// The equation was fitted to many people who were measured with better methods. It is right on average, and may be off by several
/// kilograms for one person. Its result is therefore an estimate and never a measurement.
public enum ImpedanceFormula: String, Hashable, Sendable, CaseIterable {
    /// Fat-free mass, standing on a scale. `FFM = 13.055 + 0.204 W + 0.394 H²/Z - 0.136 age + 8.125 sex`, for 554 Taiwanese aged 16 to 75,
    /// within 3.2 kg. "Predicting fat-free mass … foot-to-foot", Nutr J 2015, https://pmc.ncbi.nlm.nih.gov/articles/PMC4489024/.
    case footToFoot2015 = "foot-to-foot-2015"
    /// Fat-free mass, between wrist and ankle. Men `-10.68 + 0.65 H²/R + 0.26 W + 0.02 R`, women `-9.53 + 0.69 H²/R + 0.17 W + 0.02 R`, for
    /// 1,829 people aged 12 to 94, within 3.9 and 2.9 kg. Sun et al., Am J Clin Nutr 2003, 77:331-340,
    /// https://www.ncbi.nlm.nih.gov/pubmed/12540391.
    case sun2003 = "sun-2003"
    /// Skeletal muscle, between wrist and ankle. `SM = 0.401 H²/R + 3.825 sex - 0.071 age + 5.102`, for 388 people aged 18 to 86, within
    /// 2.7 kg. Janssen et al., J Appl Physiol 2000, 89:465-471, https://studylib.net/doc/18134218/. The authors report that it is too low
    /// for Asians.
    case janssen2000 = "janssen-2000"

    /// The display name.
    public var title: String {
        switch self {
        case .footToFoot2015: "fat-free mass, standing (Nutr J 2015)"
        case .sun2003: "fat-free mass (Sun 2003)"
        case .janssen2000: "skeletal muscle (Janssen 2000)"
        }
    }

    /// The age range of the people in the study, in years.
    public var ages: ClosedRange<Int> {
        switch self {
        case .footToFoot2015: 16...75
        case .sun2003: 12...94
        case .janssen2000: 18...86
        }
    }

    /// The inputs: kilograms, centimetres, whole years, ohms.
    public struct Inputs: Hashable, Sendable {
        /// The person's weight, in kg.
        public var weight: Double
        /// The person's height, in cm.
        public var height: Double
        /// The person's age at the weighing, in whole years.
        public var age: Int
        /// Whether the person is a man. The equations distinguish only men and women.
        public var isMale: Bool
        /// The impedance from the scale, in ohms.
        public var impedance: Double

        /// Inputs with their parts.
        public init(weight: Double, height: Double, age: Int, isMale: Bool, impedance: Double) {
            (self.weight, self.height, self.age, self.isMale, self.impedance) = (weight, height, age, isMale, impedance)
        }
    }

    /// The estimated types in the order of ``estimate(_:)``: a mass in kg, and for fat-free mass also the remaining fat in %.
    public var types: [SampleType] {
        let names = self == .janssen2000 ? ["muscleMass"] : ["fatFreeMass", "bodyFatPercentage"]
        return names.compactMap { SampleType($0) }
    }

    /// The estimates, rounded to tenths.
    ///
    /// - Returns: `nil` if the inputs are outside the study's range, such as another age, or if a mass would be negative or above the
    ///   weight.
    public func estimate(_ inputs: Inputs) -> [Numeral]? {
        guard ages.contains(inputs.age), (100...250).contains(inputs.height), (10...400).contains(inputs.weight),
            (100...2000).contains(inputs.impedance)
        else { return nil }
        let index = inputs.height * inputs.height / inputs.impedance
        let (weight, age) = (inputs.weight, Double(inputs.age))
        let mass =
            switch self {
            case .footToFoot2015: 13.055 + 0.204 * weight + 0.394 * index - 0.136 * age + (inputs.isMale ? 8.125 : 0)
            case .sun2003:
                inputs.isMale
                    ? -10.68 + 0.65 * index + 0.26 * weight + 0.02 * inputs.impedance
                    : -9.53 + 0.69 * index + 0.17 * weight + 0.02 * inputs.impedance
            case .janssen2000: 0.401 * index + (inputs.isMale ? 3.825 : 0) - 0.071 * age + 5.102
            }
        guard mass > 0, mass < weight else { return nil }
        let tenths = Numeral(coefficient: Int64((mass * 10).rounded()), exponent: -1)
        guard self != .janssen2000 else { return [tenths] }
        return [tenths, Numeral(coefficient: Int64(((1 - mass / weight) * 1000).rounded()), exponent: -1)]
    }
}
