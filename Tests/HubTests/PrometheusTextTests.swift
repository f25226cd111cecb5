import Testing

@testable import Hub

/// The form of metrics. `MetricsTests` checks those of a hub.
@Suite struct PrometheusTextTests {
    @Test func namesLabelsAndNumbers() {
        var text = PrometheusText()
        text.add("a_total", .counter, "All.", 3)
        text.add("none", .gauge, "Nothing.", nil)
        text.add("empty", .gauge, "Nothing.", [Int](), by: "x", { "\($0)" }, { Double($0) })
        let some: [(name: String, value: Double?)] = [
            ("back\\slash", 0.25), ("quote\" and\nline", -1e20), ("left out", nil),
        ]
        text.add("b", .gauge, "Some.", some, by: "name", { $0.name }, { $0.value })
        let others: [Double] = [.nan, .infinity, -.infinity, 1e15, 0]
        text.add("c", .gauge, "Others.", others, by: "n", { "\($0)" }, { $0 })
        #expect(
            text.text == """
                # HELP a_total All.
                # TYPE a_total counter
                a_total 3
                # HELP b Some.
                # TYPE b gauge
                b{name="back\\\\slash"} 0.25
                b{name="quote\\" and\\nline"} -1e+20
                # HELP c Others.
                # TYPE c gauge
                c{n="nan"} NaN
                c{n="inf"} +Inf
                c{n="-inf"} -Inf
                c{n="1000000000000000.0"} 1000000000000000.0
                c{n="0.0"} 0

                """)
    }
}
