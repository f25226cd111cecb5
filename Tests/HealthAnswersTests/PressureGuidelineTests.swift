import HealthAnswers
import Testing

/// The categories of blood pressures, at their limits.
@Suite struct PressureGuidelineTests {
    private typealias Case = (systolic: Double, diastolic: Double, category: PressureGuideline.Category)

    private func check(_ guideline: PressureGuideline, _ cases: [Case]) {
        for each in cases {
            #expect(
                guideline.category(systolic: each.systolic, diastolic: each.diastolic) == each.category,
                "\(guideline): \(each.systolic)/\(each.diastolic)")
        }
    }

    /// Table 6 of the guideline.
    @Test func accAHA() {
        check(
            .accAHA2017,
            [
                (119, 79, .normal), (120, 79, .elevated), (129, 79, .elevated), (130, 79, .stage1), (119, 80, .stage1),
                (139, 89, .stage1), (140, 79, .stage2), (119, 90, .stage2), (200, 130, .stage2),
            ])
    }

    /// Table 3 of the guidelines. An isolated systolic hypertension has the grade of its systolic pressure.
    @Test func escESH() {
        check(
            .escESH2018,
            [
                (119, 79, .optimal), (120, 79, .normal), (119, 80, .normal), (129, 84, .normal), (130, 84, .highNormal),
                (129, 85, .highNormal), (139, 89, .highNormal), (140, 80, .grade1), (120, 90, .grade1), (159, 99, .grade1),
                (160, 85, .grade2), (130, 100, .grade2), (179, 109, .grade2), (180, 85, .grade3), (130, 110, .grade3),
            ])
    }

    @Test func esc() {
        check(
            .esc2024,
            [
                (119, 69, .nonElevated), (120, 69, .elevated), (119, 70, .elevated), (139, 89, .elevated),
                (140, 69, .hypertension),
                (119, 90, .hypertension),
            ])
    }
}
