/// A guideline that divides blood pressures into categories.
///
///     PressureGuideline.escESH2018.category(systolic: 124, diastolic: 79)  // .normal
///
/// The limits are those for pressures measured in an office. A pressure belongs to the highest category that its systolic or diastolic
/// pressure reaches.
package enum PressureGuideline: String, CaseIterable, Sendable {
    /// Whelton et al., J Am Coll Cardiol 2018;71:e127-e248, table 6. https://doi.org/10.1016/j.jacc.2017.11.006
    case accAHA2017 = "acc-aha-2017"
    /// Williams et al., Eur Heart J 2018;39:3021-3104, table 3. https://doi.org/10.1093/eurheartj/ehy339
    case escESH2018 = "esc-esh-2018"
    /// McEvoy et al., Eur Heart J 2024;45:3912-4018. https://doi.org/10.1093/eurheartj/ehae178
    case esc2024 = "esc-2024"

    package enum Category: String, CaseIterable, Sendable {
        case optimal, normal, nonElevated, elevated, highNormal, stage1, stage2, grade1, grade2, grade3, hypertension
    }

    package var name: String {
        switch self {
        case .accAHA2017: "ACC/AHA 2017"
        case .escESH2018: "ESC/ESH 2018"
        case .esc2024: "ESC 2024"
        }
    }

    /// The category of two pressures in mm[Hg].
    package func category(systolic: Double, diastolic: Double) -> Category {
        let (lowest, others) = limits
        return others.last { systolic >= $0.systolic || diastolic >= $0.diastolic }?.category ?? lowest
    }

    /// The lowest category, and the others in ascending order with the pressures at which they begin.
    private var limits: (lowest: Category, others: [(category: Category, systolic: Double, diastolic: Double)]) {
        switch self {
        case .accAHA2017:
            // The diastolic pressure alone is never elevated.
            (.normal, [(.elevated, 120, .infinity), (.stage1, 130, 80), (.stage2, 140, 90)])
        case .escESH2018:
            (
                .optimal,
                [
                    (.normal, 120, 80), (.highNormal, 130, 85), (.grade1, 140, 90), (.grade2, 160, 100), (.grade3, 180, 110),
                ]
            )
        case .esc2024: (.nonElevated, [(.elevated, 120, 70), (.hypertension, 140, 90)])
        }
    }
}
