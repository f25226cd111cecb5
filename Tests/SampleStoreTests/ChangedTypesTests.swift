import HealthModel
import Pipeline
import PipelineTesting
import Testing

@testable import SampleStore

/// The types that were added or deleted: those of the changes themselves, and those in between.
@Suite struct ChangedTypesTests {
    @Test(arguments: 0..<40) func changedTypesMatchChanges(seed: UInt64) throws {
        try TestStore.with { test in
            var generator = SeededGenerator(seed: seed)
            let types: [SampleType] = [.heartRate, .stepCount, .bodyMass]
            let makers = try types.map { try SampleMaker($0) }
            var live: [GatedSample] = []
            var anchors: [(anchor: Anchor, touched: Set<SampleType>)] = [(.beginning, [])]
            for second in 0..<30 {
                var touched: SampleType?
                if !live.isEmpty, Bool.random(using: &generator) {
                    let sample = live.remove(at: Int.random(in: 0..<live.count, using: &generator))
                    try test.delete(sample)
                    touched = sample.sample.origin.type
                } else {
                    let maker = makers[Int.random(in: 0..<3, using: &generator)]
                    let sample = try maker("\(60 + second)", at: Double(second * 1000))
                    try test.keep([sample])
                    live.append(sample)
                    touched = sample.sample.origin.type
                }
                for index in anchors.indices { if let touched { anchors[index].touched.insert(touched) } }
                anchors.append((try test.store.changes.lastAnchor(), []))
                for (anchor, touched) in anchors {
                    let changed = try test.store.changes.changedTypes(after: anchor)
                    #expect(changed.types == touched)
                    #expect(changed.anchor == anchors.last?.anchor)
                    var reported: Set<SampleType> = []
                    try test.store.changes.read(after: anchor, types: nil) { change, _ in
                        reported.insert(change.sample.origin.type)
                    }
                    #expect(reported.isSubset(of: changed.types))
                }
            }
            #expect(anchors.map(\.anchor).sorted() == anchors.map(\.anchor))
        }
    }

    @Test func anotherStoresAnchorIsAnError() throws {
        try TestStore.with { test in
            try TestStore.with { other in
                try other.keep([try SampleMaker()("60", at: 1)])
                let anchor = try other.store.changes.lastAnchor()
                #expect(throws: StoreError.self) { try test.store.changes.changedTypes(after: anchor) }
                #expect(try test.store.changes.reasonNotToKnow(anchor)?.contains("another store") == true)
                #expect(try test.store.changes.reasonNotToKnow(.beginning) == nil)
            }
        }
    }
}
