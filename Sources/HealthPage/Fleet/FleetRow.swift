/// A hub on the page of a fleet's center.
package struct FleetRow: Sendable {
    package enum State: String, Sendable, CaseIterable {
        case enrolled, revoked, stopped, copied
    }

    package var name: String
    package var state: State
    /// The time since its last report or delivery in seconds, or `nil` before the first.
    package var silence: Int?
    /// The number of changes that waited for delivery, or `nil` before the first report. The following members are from the same report.
    package var waiting: Int?
    package var quarantined: Int?
    /// The lowest battery level of its devices in percent.
    package var battery: Int?
    /// The number of its devices without a reading for a day.
    package var silentDevices: Int?
    package var version: String?
    /// The number of commands without a result.
    package var orders = 0

    /// The silence after which a hub is marked, in seconds. A connected hub reports at least once a day.
    private static let longSilence = 2 * 86_400
    /// The battery level in percent below which it is marked, as on the page of devices.
    private static let lowBattery = 15

    package init(name: String, state: State) { (self.name, self.state) = (name, state) }

    func html(_ texts: PageTexts) -> HTML {
        func cell(_ text: String, _ isBad: Bool = false) -> HTML {
            isBad ? "<td><strong class=\"problem\">\(text)</strong></td>" : "<td>\(text)</td>"
        }
        func number(_ number: Int?) -> String { number.map { PageValues.text(Double($0), places: 0) } ?? "–" }
        return """
            <tr><th scope="row">\(name)</th>\(cell(texts("fleet.state." + state.rawValue), state == .stopped || state == .copied))\
            \(cell(silence.map { Self.duration($0, texts) } ?? texts("fleet.never"), (silence ?? 0) > Self.longSilence))\
            \(cell(number(waiting)))\(cell(number(quarantined)))\
            \(cell(battery.map { "\($0) %" } ?? "–", (battery ?? 100) < Self.lowBattery))\
            \(cell(number(silentDevices)))\(cell(number(orders)))\(cell(version ?? "–"))</tr>
            """
    }

    /// A duration in its largest unit.
    private static func duration(_ seconds: Int, _ texts: PageTexts) -> String {
        switch seconds {
        case ..<120: texts("fleet.seconds", "\(max(0, seconds))")
        case ..<7200: texts("fleet.minutes", "\(seconds / 60)")
        case ..<172_800: texts("fleet.hours", "\(seconds / 3600)")
        default: texts("fleet.days", "\(seconds / 86_400)")
        }
    }
}
