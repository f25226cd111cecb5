import HealthModel
import Ingestion
import PipelineTesting
import SampleStore
import Testing

/// One weighing is sent many times and in parts: the weight first, then the body composition. Each value counts once.
@Suite struct RepeatedReadingsTests {
    /// A scale without a clock that sends the values known so far.
    struct Scale: Sendable, CustomTestStringConvertible {
        var profile: String
        var channel: String
        /// In seconds, as in the profile.
        var interval: Int
        /// The types of the values, in the order in which they become known.
        var types: [String]
        /// A frame with this many of the values, the others not known yet. With none, nothing is stable. The counter is the frame's own, if
        /// it has one.
        var frame: @Sendable (_ known: Int, _ weight: UInt16, _ counter: UInt8) -> [UInt8]
        var testDescription: String { profile }
    }

    private static func high(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF)] }
    private static func low(_ value: Int) -> [UInt8] { high(value).reversed() }
    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    static let scales: [Scale] = [
        Scale(
            profile: "amazfit-scale", channel: "advert:FEE0", interval: 30, types: ["bodyMass", "bodyImpedance", "heartRate"],
            frame: { known, weight, counter in
                let pulse: UInt8 = known > 2 ? 71 : 0
                let updated: UInt8 = known > 0 ? 1 : 0
                return zeros(5) + low(known > 1 ? 5172 : 0) + low(Int(weight) * 2) + [updated, 0, 0, pulse, counter] + zeros(6)
            }),
        Scale(
            profile: "etekcity-fit-8s", channel: "advert:manufacturer:06D0", interval: 30, types: ["bodyMass", "bodyImpedance"],
            frame: { known, weight, counter in
                let grams = Int(weight) * 10
                let mass = low(grams & 0xFFFF) + [UInt8(grams >> 16)]
                let state: [UInt8] = [known > 0 ? 1 : 0, 0, 0, 0, counter]
                return [1, 1, 4, 3, 2, 1, 0xC0, 0, 0, 0] + mass + low(known > 1 ? 480 : 0) + state
            }),
        Scale(
            profile: "okok-c0", channel: "advert:manufacturer", interval: 300, types: ["bodyMass", "bodyImpedance"],
            frame: { known, weight, counter in
                let state: UInt8 = known > 0 ? 0x05 : 0x04
                return [0xC0, counter] + high(Int(weight)) + high(known > 1 ? 5031 : 6000) + [0, 0, state]
                    + [0xC0, 1, 2, 3, 4, 1]
            }),
        Scale(
            profile: "okok-v20", channel: "advert:manufacturer:20CA", interval: 30, types: ["bodyMass", "bodyImpedance"],
            frame: { known, weight, counter in
                let head = [counter] + zeros(5) + [known > 0 ? 5 : 4, 0]
                let body = head + high(Int(weight)) + high(known > 1 ? 5031 : 6000)
                return body + [body.reduce(0x20) { $0 ^ $1 }] + zeros(6)
            }),
        Scale(
            profile: "senssun-if-b7", channel: "advert:manufacturer:0100", interval: 30, types: ["bodyMass", "bodyImpedance"],
            frame: { known, weight, counter in
                let state: UInt8 = known > 0 ? 0xA0 : 0
                return [2, 3, 0x11, 0xC0, 1, 2, 3, 4, 1, 2] + high(Int(weight)) + high(known > 1 ? 480 : 0) + [state, counter, 0]
            }),
        Scale(
            profile: "renpho-es-26bb", channel: "gatt:2A10", interval: 30, types: ["bodyMass", "bodyImpedance"],
            frame: { known, weight, counter in
                let head: [UInt8] = [0, 0, 0x14, counter, 0, known > 0 ? 1 : 0, 0, 0]
                let body = head + high(Int(weight)) + high(known > 1 ? 480 : 0)
                return body + [body.reduce(0) { $0 &+ $1 }]
            }),
        // The number of the weighing is what repeats here, for an hour.
        Scale(
            profile: "yunmai-x", channel: "advert:manufacturer", interval: 3600, types: ["bodyMass", "bodyImpedance"],
            frame: { known, weight, _ in
                let body = [7, known > 0 ? 3 : 1] + high(Int(weight)) + high(known > 1 ? 500 : 0)
                return [1, 4, 3, 2, 1, 0xC0, 0x0B, 0x74, 0x17] + body + [body.reduce(0) { $0 ^ $1 }]
            }),
    ]

    private func found(_ bench: RadioBench) throws -> [String] {
        try bench.samples().map(\.sample.origin.type.id).sorted()
    }

    /// The weight, then the same with the body composition, as each of these scales sends them.
    @Test(arguments: scales) func weightBeforeBodyComposition(_ scale: Scale) throws {
        let bench = try RadioBench()
        try bench.adopt(scale.profile)
        bench.receive(scale.channel, scale.frame(0, 6000, 1))
        for known in 1...scale.types.count {
            for repetition in 0..<3 {
                bench.receive(scale.channel, scale.frame(known, 7250, UInt8(known * 10 + repetition)), after: .seconds(2))
            }
        }
        try bench.stop()
        #expect(try found(bench) == scale.types.sorted())
        #expect(try bench.samples().first { $0.sample.origin.type.id == "bodyMass" }?.sample.value == 72.5)
    }

    /// Whatever the order of a weighing's frames, and however often they arrive, each type counts once. A person with the same weight after
    /// the profile's interval counts again.
    @Test(arguments: scales) func anyOrderAndRepetition(_ scale: Scale) throws {
        for seed in 0..<20 {
            var random = SeededGenerator(seed: UInt64(seed))
            let bench = try RadioBench()
            try bench.adopt(scale.profile)
            let weight: UInt16 = [7250, 7260].randomElement(using: &random) ?? 7250
            var reported: [String] = []
            var counter: UInt8 = 0
            for weighing in 0..<2 {
                if weighing > 0 { bench.pass(.seconds(scale.interval + 60)) }
                bench.receive(scale.channel, scale.frame(0, 3000, counter))
                var maximum = 0
                // All of it within the interval of the first.
                for _ in 0..<8 {
                    let known = Int.random(in: 0...scale.types.count, using: &random)
                    maximum = max(maximum, known)
                    counter &+= UInt8.random(in: 0...1, using: &random)
                    bench.receive(
                        scale.channel, scale.frame(known, weight, counter), after: .seconds(Int.random(in: 0...3, using: &random))
                    )
                }
                reported += scale.types.prefix(maximum)
            }
            try bench.stop()
            #expect(try found(bench) == reported.sorted(), "seed \(seed)")
        }
    }

    /// Another weight is another weighing, at once.
    @Test(arguments: scales) func anotherWeightIsAnother(_ scale: Scale) throws {
        let bench = try RadioBench()
        try bench.adopt(scale.profile)
        for (index, weight) in [7250, 7250, 7260, 7260].enumerated() {
            bench.receive(scale.channel, scale.frame(1, UInt16(weight), UInt8(index)), after: .seconds(2))
        }
        try bench.stop()
        #expect(try bench.samples().map(\.sample.value).sorted() == [72.5, 72.6])
    }

    /// If the weight of a frame is already stored, its other values belong to the same person, as if they had arrived with the weight.
    @Test func theRestIsTheSamePersons() throws {
        let bench = try RadioBench()
        let (anna, ben) = ("7f9c0000-0000-4000-8000-000000000001", "7f9c0000-0000-4000-8000-000000000002")
        let scale = Self.scales[0]
        try bench.adopt(scale.profile)
        let address = try #require(try bench.store.devices.adopted().first?.address)
        try bench.store.devices.assign(
            device: address, to: Origin.unassigned,
            sharedBy: [SharedUse(person: anna, weights: 50...65), SharedUse(person: ben, weights: 70...90)])
        try bench.reload()
        bench.receive(scale.channel, scale.frame(1, 7250, 1))
        bench.receive(scale.channel, scale.frame(2, 7250, 2), after: .seconds(5))
        bench.receive(scale.channel, scale.frame(3, 7250, 3), after: .seconds(5))
        // The weight is unassigned, and so is the impedance.
        bench.receive(scale.channel, scale.frame(1, 2000, 4), after: .seconds(60))
        bench.receive(scale.channel, scale.frame(2, 2000, 5), after: .seconds(5))
        try bench.stop()
        let samples = try bench.samples().map(\.sample)
        #expect(
            samples.map { "\($0.origin.type.id) \($0.origin.person == ben ? "ben" : $0.origin.person)" }.sorted() == [
                "bodyImpedance ben", "bodyImpedance unassigned", "bodyMass ben", "bodyMass unassigned", "heartRate ben",
            ])
    }

    /// The hub's clock is set by a day during a weighing, which stays one weighing.
    @Test(arguments: [Int64(86_400), -86_400]) func theHubsClockIsSet(by seconds: Int64) throws {
        let bench = try RadioBench()
        let scale = Self.scales[4]
        try bench.adopt(scale.profile)
        bench.receive(scale.channel, scale.frame(1, 7250, 1))
        bench.clock.now.microseconds += seconds * 1_000_000
        for each in bench.service.devices { each.device.clockWasSet(by: seconds * 1_000_000) }
        bench.receive(scale.channel, scale.frame(2, 7250, 2), after: .seconds(5))
        try bench.stop()
        #expect(try found(bench) == scale.types.sorted())
    }
}
