import HealthModel
import Testing

/// The equations as their papers have them, worked out by hand.
@Suite struct ImpedanceFormulaTests {
    private func inputs(
        weight: Double = 85.3, height: Double = 180, age: Int = 40, isMale: Bool = true, impedance: Double = 517.2
    ) -> ImpedanceFormula.Inputs {
        ImpedanceFormula.Inputs(weight: weight, height: height, age: age, isMale: isMale, impedance: impedance)
    }

    private func values(_ formula: ImpedanceFormula, _ inputs: ImpedanceFormula.Inputs) -> [String]? {
        formula.estimate(inputs)?.map(\.description)
    }

    /// H²/R is 32400/517.2 = 62.645.
    @Test func byHand() {
        // -10.68 + 40.719 + 22.178 + 10.344 = 62.561
        #expect(values(.sun2003, inputs()) == ["62.6", "26.7"])
        // -9.53 + 43.225 + 14.501 + 10.344 = 58.540
        #expect(values(.sun2003, inputs(isMale: false)) == ["58.5", "31.4"])
        // 25.121 + 3.825 - 2.840 + 5.102 = 31.208
        #expect(values(.janssen2000, inputs()) == ["31.2"])
        #expect(values(.janssen2000, inputs(isMale: false)) == ["27.4"])
        // 13.055 + 17.401 + 24.682 - 5.440 + 8.125 = 57.823
        #expect(values(.footToFoot2015, inputs()) == ["57.8", "32.2"])
        #expect(values(.footToFoot2015, inputs(isMale: false)) == ["49.7", "41.7"])
    }

    /// No estimate is made for people outside the formula's range.
    @Test func noEstimateOutsideValidatedRange() {
        #expect(ImpedanceFormula.sun2003.estimate(inputs(age: 11)) == nil)
        #expect(ImpedanceFormula.footToFoot2015.estimate(inputs(age: 76)) == nil)
        #expect(ImpedanceFormula.janssen2000.estimate(inputs(age: 17)) == nil)
        #expect(ImpedanceFormula.janssen2000.estimate(inputs(age: 87)) == nil)
        #expect(ImpedanceFormula.sun2003.estimate(inputs(impedance: 0)) == nil)
        #expect(ImpedanceFormula.sun2003.estimate(inputs(height: 1.8)) == nil, "metres for centimetres")
        #expect(ImpedanceFormula.sun2003.estimate(inputs(impedance: .nan)) == nil)
        // More fat-free mass than there is mass.
        #expect(ImpedanceFormula.sun2003.estimate(inputs(weight: 50, height: 200, impedance: 300)) == nil)
    }

    @Test func eachFormulaHasTypes() {
        for formula in ImpedanceFormula.allCases {
            #expect(!formula.types.isEmpty && formula.types.count == formula.estimate(inputs())?.count, "\(formula)")
        }
    }
}
