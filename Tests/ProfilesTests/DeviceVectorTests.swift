import FoundationEssentials
import HealthModel
import Pipeline
import Testing
import Wire

@testable import Profiles

/// A frame of a device and what another program reads in it: `Vectors/Devices`.
struct DeviceVector: CustomTestStringConvertible, Sendable {
    var set: String
    var channel: String
    var hex: String
    var name: String?
    var secrets: FrameSecrets
    /// The fields by the other program's names. `nil` if it refuses the frame.
    var expected: [String: JSONValue]?
    /// The origin of the vector, if that limits its value.
    var note: String

    var testDescription: String { "\(set) \(channel) \(hex)" }

    static let directory = SharedVector.directory + "/Devices"
    static let files = ["bluetooth-devices", "theengs-decoder", "ble-monitor", "ble-scale-sync", "openscale", "others"]
    static let all: [DeviceVector] = files.flatMap { (try? read($0)) ?? [] }

    private static func document(_ name: String) throws -> JSONValue {
        try JSONValue.parse(json5: Array(Data(contentsOf: URL(filePath: directory + "/" + name + ".json"))))
    }

    static func read(_ file: String) throws -> [DeviceVector] {
        guard case .array(let elements) = try document(file) else { return [] }
        return elements.compactMap { element in
            guard case .object(let object) = element, let set = object.text("set"), let channel = object.text("channel"),
                let hex = object.text("hex"), let expect = object["expect"]
            else { return nil }
            var vector = DeviceVector(
                set: set, channel: channel, hex: hex, name: object.text("name"), secrets: FrameSecrets(), expected: nil,
                note: object.text("note") ?? "")
            vector.secrets.address = object.text("address").flatMap(HexadecimalText.bytes)
            vector.secrets.bindKey = object.text("bindKey").flatMap(HexadecimalText.bytes)
            if case .object(let fields) = expect { vector.expected = fields }
            return vector
        }
    }

    /// Which profiles read a set, or why none does.
    struct Reading: Sendable {
        var profiles: [String] = []
        var leftOut = ""
    }

    static let sets: [String: Reading] = {
        guard case .object(let object)? = try? document("sets") else { return [:] }
        return object.mapValues { value in
            guard case .object(let members) = value else { return Reading() }
            var reading = Reading(leftOut: members.text("leftOut") ?? "")
            if case .array(let ids)? = members["profiles"] {
                reading.profiles = ids.compactMap { if case .string(let id) = $0 { id } else { nil } }
            }
            return reading
        }
    }()

    /// The frame for the profile's channel. `nil` if the profile has no such channel.
    func frame(of profile: Profile) -> (match: BinaryMatch, bytes: [UInt8])? {
        guard let bytes = HexadecimalText.bytes(hex) else { return nil }
        guard channel.hasPrefix("manufacturer:") else { return profile.match(channel: channel).map { ($0, bytes) } }
        if let match = profile.match(channel: "advert:" + channel) { return (match, bytes) }
        guard let company = HexadecimalText.bytes(channel.dropFirst(13)) else { return nil }
        return profile.match(channel: "advert:manufacturer").map { ($0, company.reversed() + bytes) }
    }
}

extension [String: JSONValue] {
    fileprivate func text(_ key: String) -> String? {
        if case .string(let text)? = self[key] { return text }
        return nil
    }
}

@Suite struct DeviceVectorTests {
    /// The other programs' names for types of the catalog.
    private static let types: [String: [String]] = [
        "roomTemperature": [
            "temperature", "tempc", "temperature_probe_1", "temperature_probe_2", "temperature probe 1", "temperature@remote",
        ],
        "relativeHumidity": ["humidity", "hum", "humidity_probe_1", "humidity@remote"],
        "barometricPressure": ["pressure", "pres"], "carbonDioxideConcentration": ["co2", "carbon_dioxide"],
        "particulateMatter2_5": ["pm25", "pm2.5"], "batteryLevel": ["battery", "batt", "battery@remote"],
        "bodyMass": ["weight", "mass"], "bodyImpedance": ["impedance", "impedance_low"],
        "heartRate": ["heart rate", "heart_rate", "pulse", "act_bpm"], "oxygenSaturation": ["spo2"],
        "pulseAmplitudeIndex": ["perfusion_index"], "bodyFatPercentage": ["fat"], "bodyWaterPercentage": ["water"],
    ]

    private static let typeOfName: [String: String] = Dictionary(
        types.flatMap { type, names in names.map { ($0, type) } }, uniquingKeysWith: { one, _ in one })

    /// Frames that a profile reads differently from the other program, and the reasons.
    private static let differing: [String: String] = [
        "theengs-govee-h5072-75 00811f096400": "tenths of a degree are packed with the humidity, which is no digit of it",
        "thermopro-tp357s ffff220b01": "invalid: its test remembers the frame before",
        "inkbird-ibs-th 00": "a piece; its test reads the whole from elsewhere",
        "inkbird-ibs-p02b 0812005e000090016400640800000000": "a pool thermometer: no humidity is taken of water",
        "blemonitor-qingping-cgdn1 080ea3808fe64854010422014c011204710072001302ed03": "its address is not its sender's",
        "sensorpush-ht1 ff07": "118.97 % is held as impossible, and not cut to 100",
        "blemonitor-laica-laica-smart-scale a02bbe5e91a0a02c92140dbf": "bit 31 says that the weight is not final",
        "openscale-yunmai-x 12eeffc00b741704010000000005": "not final",
        "blemonitor-relsib-eclerk-eco 24080000200a750943030080f08000c2eb0b010b0300": "fed from outside: no charge is told",
        "blescalesync-renpho-es-26bb 000015000000001d4c01e000000e107d": "stored before, and told with its age alone",
        "blescalesync-renpho-es-26bb 000015000000001d4c01e0000000005f": "stored before, and told with its age alone",
        "theengs-xiaomi-xmtzc02hm-xmtzc05hm 0624e607020e10293a0000fc03": "an object is weighed, and no person",
        "theengs-xiaomi-xmtzc02hm-xmtzc05hm 0724e607020e10293a0000ce04": "an object is weighed, and no person",
        "blescalesync-hesley 00001f4000e10000022601900023":
            "a piece: openScale takes 20 octets alone, and what is shorter may be unsettled",
        "theengs-xiaomi-xmtzc01hm-xmtzc04hm a37233e607020e10293a": "the load is removed: the weighing before, told once more",
        "theengs-xiaomi-xmtzc01hm-xmtzc04hm e27607e607020e10293a": "the load is removed: the weighing before, told once more",
        "theengs-xiaomi-xmtzc01hm-xmtzc04hm e37607e607020e10293a": "the load is removed: the weighing before, told once more",
        "theengs-xiaomi-xmtzc02hm-xmtzc05hm 03a4e607020e10293a0000f136":
            "the load is removed: the weighing before, told once more",
        "theengs-xiaomi-xmtzc02hm-xmtzc05hm 03a6e607020e10293af701f136":
            "the load is removed: the weighing before, told once more",
        "xiaomi-cgdk3 4858594fef546f0e7450729321010038d74333": "its key is not at hand",
        "xiaomi-ks2bb 58590b526ce6fea138c1a4430540670b00004c4445f1": "its key is not at hand",
        "blemonitor-xiaomi-ptx-f1-display 5859c56433665544332211d67b54550c01001d8f98bb": "its key is not at hand",
        "blemonitor-xiaomi-ptx-f1-display 5859c56433665544332211997b546b0c01009089c35a": "its key is not at hand",
    ]

    @Test func everySetIsReadOrExcluded() {
        #expect(DeviceVector.all.count == 753)
        let sets = Set(DeviceVector.all.map(\.set))
        #expect(sets.isSubset(of: DeviceVector.sets.keys))
        for (set, reading) in DeviceVector.sets {
            #expect(reading.profiles.isEmpty != reading.leftOut.isEmpty, "\(set)")
            for id in reading.profiles { #expect(shippedLibrary[id] != nil, "\(set): \(id)") }
        }
        let known = Set(DeviceVector.all.map { "\($0.set) \($0.hex)" })
        for key in Self.differing.keys { #expect(known.contains(key), "\(key)") }
    }

    @Test(arguments: DeviceVector.sets.filter { !$0.value.profiles.isEmpty }.keys.sorted())
    func readsVectorsOfOtherPrograms(set: String) throws {
        for vector in DeviceVector.all where vector.set == set && Self.differing["\(set) \(vector.hex)"] == nil {
            for id in DeviceVector.sets[set]?.profiles ?? [] {
                let profile = try #require(shippedLibrary[id])
                guard let (match, bytes) = vector.frame(of: profile) else { continue }
                let values = Self.values(match, bytes, vector.secrets)
                // An expectation next to other frames in its test may belong to another frame.
                if vector.note == "one of several frames" || vector.note == "stateful" { continue }
                guard let expected = vector.expected else {
                    #expect(values.isEmpty, "\(vector.testDescription) is taken: \(values)")
                    continue
                }
                let ofProfile = Set(profile.types.map(\.id))
                for (name, value) in expected {
                    guard case .number(let number) = value, var type = Self.typeOfName[name] else { continue }
                    if type == "roomTemperature", ofProfile.contains("waterTemperature") { type = "waterTemperature" }
                    // Values that the profile does not read, such as a battery level in three steps.
                    guard ofProfile.contains(type) else { continue }
                    // Others round to one or two digits, or truncate.
                    let found = values[type]?.contains { abs($0 - number) <= 0.0101 } ?? false
                    #expect(found, "\(vector.testDescription): \(name) \(number), not \(values[type] ?? [])")
                }
            }
        }
    }

    /// A truncated frame is refused, or contains less than the complete one if its profile has several forms. Nothing traps.
    @Test(arguments: DeviceVector.sets.filter { !$0.value.profiles.isEmpty }.keys.sorted())
    func prefixesAreRefusedOrContainLess(set: String) throws {
        for vector in DeviceVector.all where vector.set == set {
            for id in DeviceVector.sets[set]?.profiles ?? [] {
                guard let (match, bytes) = try vector.frame(of: #require(shippedLibrary[id])) else { continue }
                let whole = Self.values(match, bytes, vector.secrets)
                // A frame that is identified by its length alone becomes another form when it is cut to that length. An advertisement
                // contains its length and is never cut.
                let forms = match.channel.plan.sizes.reduce(into: Set<Int>()) { $0.formUnion($1) }
                for length in 0..<bytes.count where !forms.contains(length) {
                    let cut = Self.values(match, Array(bytes[..<length]), vector.secrets)
                    let isLess = cut.allSatisfy { type, values in whole[type]?.starts(with: values) == true }
                    #expect(isLess, "\(vector.testDescription) cut to \(length): \(cut)")
                }
            }
        }
    }

    /// 10,000 frames for each profile that are nearly valid: some bytes changed, removed or added, some frames entirely random.
    @Test(
        arguments: shippedLibrary.profiles.filter { profile in
            profile.frameVectors.contains { $0.refused == nil && !$0.channel.hasPrefix("serial:") }
        }
        .map(\.id))
    func noFrameTraps(id: String) throws {
        let profile = try #require(shippedLibrary[id])
        var random = SplitMix(state: 0x5EED)
        let vectors = profile.frameVectors.filter { $0.refused == nil && !$0.channel.hasPrefix("serial:") }
        let interpreters = try vectors.map { vector in
            try BinaryInterpreter(
                #require(profile.match(channel: vector.channel)), registry: OriginRegistry(person: "me"), options: vector.options
            )
        }
        try #require(!vectors.isEmpty)
        var readings: [Reading] = []
        for round in 0..<10_000 {
            let index = Int(random.next() % UInt64(vectors.count))
            var bytes = vectors[index].bytes
            for _ in 0...random.next() % 4 where !bytes.isEmpty {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            switch random.next() % 8 {
            case 0: bytes.removeLast(Int(random.next() % UInt64(bytes.count + 1)))
            case 1: bytes += (0...random.next() % 32).map { UInt8(truncatingIfNeeded: $0) }
            case 2: bytes = bytes.map { _ in UInt8(truncatingIfNeeded: random.next()) }
            default: break
            }
            readings.removeAll(keepingCapacity: true)
            bytes.withUnsafeBytes { bytes in
                let frame = RawFrame(payload: .bytes(bytes), place: Place(.byte, 0), received: Instant(seconds: 1_900_000_000))
                do throws(Refusal) {
                    _ = try interpreters[index].interpret(frame, into: &readings)
                    if round % 16 == 0, interpreters[index].fieldsJSON.isEmpty { Issue.record("no fields: \(id)") }
                } catch {
                    if !readings.isEmpty { Issue.record("refused, and yet readings: \(id)") }
                }
            }
        }
    }

    private struct SplitMix {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }

    /// The values of each type in a frame, in the type's unit and as sent. Empty if the frame is refused or skipped.
    static func values(_ match: BinaryMatch, _ bytes: [UInt8], _ secrets: FrameSecrets) -> [String: [Double]] {
        let interpreter = BinaryInterpreter(
            match, registry: OriginRegistry(person: "me"), options: BinaryOptions(secrets: secrets))
        var readings: [Reading] = []
        bytes.withUnsafeBytes { bytes in
            let frame = RawFrame(payload: .bytes(bytes), place: Place(.byte, 0), received: Instant(seconds: 1_900_000_000))
            _ = try? interpreter.interpret(frame, into: &readings)
        }
        var values: [String: [Double]] = [:]
        for reading in readings {
            let type = reading.origin.type
            guard let conversion = try? type.conversion(from: reading.unit) else { continue }
            values[type.id, default: []] += [conversion(reading.numeral.doubleValue), reading.numeral.doubleValue]
        }
        return values
    }
}
