import Testing

@testable import HealthModel

/// Whether two origins may be the same device.
@Suite struct DeviceRelationTests {
    private func origin(
        _ source: String, name: String? = nil, maker: String? = nil, model: String? = nil, serial: String? = nil
    ) -> Origin {
        let key = [maker, model ?? name, serial].compactMap { $0 }.joined(separator: "/")
        let device = Device(key: key, name: name, manufacturer: maker, model: model, serial: serial)
        return Origin(
            person: "me", type: .heartRate, source: SourceRevision(id: source, name: source), device: key.isEmpty ? nil : device)
    }

    /// The FIT file of a watch has the number of the product, and the TCX file its name.
    @Test func equalSerialNumbersAreOneDevice() {
        let fit = origin("fit", maker: "Garmin", model: "product 3113", serial: "3900000001")
        let tcx = origin("tcx", name: "Forerunner 945", model: "Forerunner 945", serial: "3900000001")
        #expect(DeviceRelation(fit, tcx) == .same && DeviceRelation(tcx, fit) == .same)
        let other = origin("tcx", name: "Forerunner 945", model: "Forerunner 945", serial: "3900000002")
        #expect(DeviceRelation(fit, other) == .other)
    }

    /// A serial number is unique for one maker only.
    @Test func equalSerialNumbersOfTwoMakersAreTwoDevices() {
        let one = origin("ble.a", maker: "Garmin", model: "HRM", serial: "1234")
        let other = origin("ble.b", maker: "Polar Electro", model: "H10", serial: "1234")
        #expect(DeviceRelation(one, other) == .other)
        // A name in another language is not another maker.
        #expect(DeviceRelation(origin("x", maker: "Garmin", serial: "1234"), origin("y", name: "Edge", serial: "1234")) == .same)
    }

    /// The TCX and GPX files of Garmin Connect name the site in different words.
    @Test func filesOfOneSiteAreOneMaker() {
        let tcx = Origin(
            person: "me", type: .heartRate, source: SourceRevision(id: "tcx", name: "Connect Api"),
            device: Device(key: "Forerunner 945/1", name: "Forerunner 945", model: "Forerunner 945", serial: "1"))
        #expect(DeviceRelation(tcx, origin("Garmin Connect")) == .same)
        #expect(DeviceRelation(tcx, origin("Health Connect")) == .unknown)
    }
}
