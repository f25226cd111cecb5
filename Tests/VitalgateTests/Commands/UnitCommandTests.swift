import FoundationEssentials
import Testing

/// `unit convert`, in the forms that other programs rely on.
@Suite struct UnitCommandTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    func convert(_ arguments: String...) throws -> Vitalgate.Run { try folder.vitalgate(["unit", "convert"] + arguments) }

    @Test func printsTheLineOfTheContract() throws {
        let run = try convert("--format", "ndjson", "--", "98.6", "[degF]", "Cel")
        #expect(run.output == "{\"value\":37,\"unit\":\"Cel\"}\n")
        #expect(run.errors.isEmpty)
        #expect(run.status == 0)
    }

    @Test(arguments: [
        (["98.6", "[degF]", "Cel", "--format", "ndjson"], "{\"value\":37,\"unit\":\"Cel\"}\n"),
        (["--format=ndjson", "37", "Cel", "[degF]"], "{\"value\":98.6,\"unit\":\"[degF]\"}\n"),
        (["--format", "ndjson", "--", "-40", "[degF]", "Cel"], "{\"value\":-40,\"unit\":\"Cel\"}\n"),
        (["-40", "[degF]", "Cel", "--format", "ndjson"], "{\"value\":-40,\"unit\":\"Cel\"}\n"),
        (["98.6", "[degF]", "Cel"], "37 Cel\n"),
        (["98.6", "[degF]", "Cel", "--format", "csv"], "value,unit\n37,Cel\n"),
        (["1e3", "g", "kg", "--format", "ndjson"], "{\"value\":1,\"unit\":\"kg\"}\n"),
        (["0.98", "1", "%", "--format", "ndjson"], "{\"value\":98,\"unit\":\"%\"}\n"),
    ])
    func printsAsAsked(arguments: [String], output: String) throws {
        let run = try folder.vitalgate(["unit", "convert"] + arguments)
        #expect(run.output == output)
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
    }

    /// Needs no store, and makes none.
    @Test func leavesTheStoreAlone() throws {
        _ = try convert("1", "kg", "g")
        #expect(!folder.exists("store.db"))
    }

    @Test(arguments: [
        ("--molar-mass", "180.156"), ("--type", "bloodGlucose"), ("--type", "HKQuantityTypeIdentifierBloodGlucose"),
    ])
    func knowsTheSubstance(option: String, value: String) throws {
        let run = try convert("--format", "ndjson", option, value, "--", "5.5", "mmol/L", "mg/dL")
        let milligrams = try #require(try JSON(run.last)["value"].double)
        #expect(abs(milligrams - 99.0858) < 0.0005)
        #expect(run.status == 0)
    }

    @Test func asksForTheSubstance() throws {
        let run = try convert("--format", "ndjson", "--", "5.5", "mmol/L", "mg/dL")
        #expect(run.status == 65)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("molar"))
    }

    @Test(arguments: [
        ("500", "mcg", "mg", "0.5"), ("70", "mL/min·kg", "L/(kg*min)", "0.07"), ("1", "m^2", "cm^2", "10000"),
        ("0.98", "%", "%", "0.98"), ("98.6", "degF", "degC", "37"), ("60", "count/min", "count/s", "1"),
        ("5.5", "mmol<180.15588000005408>/L", "mg/dL", "99.08573400002975"), ("12", "fl_oz_us", "mL", "354.88235475"),
    ])
    func speaksHealthKit(value: String, from: String, to: String, expected: String) throws {
        let run = try convert("--dialect", "healthkit", "--format", "ndjson", "--", value, from, to)
        #expect(run.output == "{\"value\":\(expected),\"unit\":\"\(to)\"}\n")
        #expect(run.errors.isEmpty)
    }

    /// HealthKit's percent is the ratio, and UCUM's is a hundredth.
    @Test func keepsThePercentsApart() throws {
        #expect(try convert("--format", "ndjson", "0.98", "%", "1").output == "{\"value\":0.0098,\"unit\":\"1\"}\n")
        #expect(try convert("--dialect", "healthkit", "--format", "ndjson", "0.98", "%", "count").status != 64)
    }

    struct Conversion: Decodable {
        var value: Double
        var from: String
        var to: String
        var expected: Double
        var relativeTolerance: Double
        var note: String

        enum CodingKeys: String, CodingKey {
            case value, from, to, expected, note
            case relativeTolerance = "rel_tol"
        }
    }

    struct Refused: Decodable {
        var value: Double
        var from: String
        var to: String
    }

    /// Vectors that independent libraries agree on, in a few parts that run side by side.
    @Test(arguments: 0..<8) func convertsAsOthersDo(part: Int) throws {
        let cases = try JSONDecoder().decode(
            [Conversion].self, from: Repository.data("Tests/HealthModelTests/Vectors/ucum_convert.json"))
        #expect(cases.count > 100)
        for (index, one) in cases.enumerated() where index % 8 == part {
            let substance = one.note.hasPrefix("glucose") ? ["--molar-mass", "180.156"] : []
            let run = try folder.vitalgate(
                ["unit", "convert", "--format", "ndjson"] + substance + ["--", one.value.description, one.from, one.to])
            #expect(run.status == 0, "\(one.value) \(one.from) in \(one.to): \(run.errors)")
            let value = try #require(try JSON(run.last)["value"].double)
            #expect(
                abs(value - one.expected) <= one.relativeTolerance * abs(one.expected), "\(one.value) \(one.from) in \(one.to)")
        }
    }

    @Test func refusesAsOthersDo() throws {
        let cases = try JSONDecoder().decode(
            [Refused].self, from: Repository.data("Tests/HealthModelTests/Vectors/ucum_refuse.json"))
        #expect(cases.count > 10)
        for one in cases {
            let run = try convert("--format", "ndjson", "--", one.value.description, one.from, one.to)
            #expect(run.status == 65, "'\(one.from)' in '\(one.to)': \(run.output)\(run.errors)")
            #expect(run.output.isEmpty)
            #expect(!run.errors.isEmpty)
        }
    }

    /// An error of dimension names both sides.
    @Test func namesBothDimensions() throws {
        let run = try convert("1", "kg", "Cel")
        #expect(run.status == 65)
        #expect(run.errors.contains("kg") && run.errors.contains("Cel"))
    }

    @Test(arguments: [
        ["1", "kg"], ["1", "kg", "g", "mg"], ["one", "kg", "g"], ["1", "kg", "g", "--molar-mass", "much"],
        ["1", "kg", "g", "--dialect", "imperial"],
    ])
    func callsAWrongLineWrong(arguments: [String]) throws {
        let run = try folder.vitalgate(["unit", "convert"] + arguments)
        #expect(run.status == 64, "\(run.output)\(run.errors)")
        #expect(run.output.isEmpty)
        #expect(!run.errors.isEmpty)
    }
}
