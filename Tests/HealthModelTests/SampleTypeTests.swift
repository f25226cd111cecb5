import Testing

@testable import HealthModel

@Suite struct SampleTypeTests {
    @Test func quantityTypesMatchFactColumns() throws {
        let facts = try TestFile.csv("Facts/quantity-types.csv") + TestFile.csv("Facts/extra-types.csv")
        #expect(facts.count == 141)
        for fact in facts {
            let type = try #require(SampleType(fact["id"] ?? ""))
            let mdc = type.mdc.map { "\($0.code) \($0.name)" }
            let cells = [
                "id": type.id, "hk_identifier": type.healthKitIdentifier ?? "", "display_name": type.displayName,
                "dimension": type.dimensionName, "hk_default_unit": type.healthKitUnit ?? "",
                "canonical_ucum": type.canonicalUnit.code, "aggregation_style": type.aggregation.rawValue,
                "loinc": type.loinc ?? "", "mdc": mdc ?? "", "fhir_unit_ok": type.fhirUnits.joined(separator: " "),
                "since": type.since ?? "",
            ]
            for (column, cell) in cells { #expect(fact[column] == cell, "\(type.id), \(column)") }
        }
    }

    @Test func quantityTypesMatchFacts() throws {
        let facts = try TestFile.csv("Facts/quantity-types.csv") + TestFile.csv("Facts/extra-types.csv")
        let ours = Set(SampleType.quantities.map(\.id)).subtracting(facts.compactMap { $0["id"] })
        #expect(ours == ["heartRateAverage", "heartRateMinimum", "heartRateMaximum", "totalEnergyBurned"])
        #expect(SampleType.quantities.count == 145)
        #expect(SampleType.quantities.filter { !$0.isVitalgates }.count == 120)
        #expect(Set(SampleType.quantities.map(\.id)).count == 145)
        #expect(SampleType("totalEnergyBurned")?.aggregation == .cumulative)
        #expect(SampleType("heartRateMaximum")?.canonicalUnit.code == "/min")
    }

    @Test func lookUp() {
        #expect(SampleType("heartRate") == .heartRate)
        #expect(SampleType("HKQuantityTypeIdentifierHeartRate") == .heartRate)
        #expect(SampleType("HKQuantityTypeIdentifierVO2Max")?.id == "vo2Max")
        #expect(SampleType("HKQuantityTypeIdentifierUVExposure")?.id == "uvExposure")
        for none in ["", "HeartRate", "heartrate", "HKQuantityTypeIdentifierheartRate", "HKQuantityTypeIdentifier", "pulse"] {
            #expect(SampleType(none) == nil)
        }
        #expect(SampleType.quantities.allSatisfy { SampleType($0.id) == $0 })
        let known: [SampleType] = [
            .heartRate, .bodyTemperature, .bloodGlucose, .bodyMass, .oxygenSaturation, .stepCount, .bloodPressureSystolic,
            .bloodPressureDiastolic,
        ]
        #expect(Set(known).count == 8)
    }

    @Test func healthKitsUnitsConvert() throws {
        for type in SampleType.quantities {
            guard let string = type.healthKitUnit else { continue }
            _ = try type.conversion(from: Unit(healthKit: string))
        }
        func convert(_ type: String, _ value: Double, _ unit: String) throws -> Double {
            try #require(SampleType(type)).conversion(from: Unit(healthKit: unit))(value)
        }
        #expect(try convert("heartRate", 1.2, "count/s") == 72)
        #expect(try convert("bodyMassIndex", 22.5, "count") == 22.5)
        #expect(try convert("appleSleepingBreathingDisturbances", 4, "count") == 4)
        #expect(try convert("oxygenSaturation", 0.98, "%") == 98)
        #expect(try convert("stepCount", 100, "count") == 100)
        #expect(try convert("bloodGlucose", 10, "mmol/L") == 180.15588000005408)
        #expect(try convert("bloodGlucose", 10, "mmol<100>/L") == 100)
        #expect(throws: UnitError.self) { try convert("heartRate", 1, "count") }
        #expect(throws: UnitError.self) { try convert("bloodKetone", 10, "mg/dL") }
        #expect(throws: UnitError.self) { try convert("bodyMass", 10, "mmol") }
    }

    @Test func limits() throws {
        for type in SampleType.quantities {
            let hard = try #require(type.hardLimits, "\(type)")
            guard let plausible = type.plausible else { continue }
            #expect(hard.contains(plausible.lowerBound) && hard.contains(plausible.upperBound), "\(type)")
        }
        #expect(SampleType.oxygenSaturation.hardLimits == 0...100)
        #expect(SampleType.heartRate.hardLimits == 1...400)
        #expect(SampleType.bloodPressureSystolic.hardLimits?.contains(2047) == false)
        #expect(SampleType.stepCount.hardLimits?.contains(-1) == false)
        #expect(SampleType.stepCount.hardLimits?.contains(1e9) == true)
        #expect(SampleType.stepCount.hardLimits?.contains(.nan) == false)
    }

    /// Readings that were stored in a wrong unit must get in before they can be repaired.
    @Test func wrongUnitsAreNotImpossible() throws {
        #expect(SampleType.bodyTemperature.hardLimits?.contains(98.2) == true)
        #expect(SampleType.bodyTemperature.plausible?.contains(98.2) == false)
        let stones = try SampleType.bodyMass.conversion(from: Unit(ucum: "[stone_av]"))(159.6)
        #expect(SampleType.bodyMass.hardLimits?.contains(stones) == true)
        #expect(SampleType.bodyMass.plausible?.contains(stones) == false)
        let height = try #require(SampleType("height"))
        let feet = try height.conversion(from: Unit(ucum: "[ft_i]"))(175)
        #expect(height.hardLimits?.contains(feet) == true)
        #expect(height.plausible?.contains(feet) == false)
    }
}
