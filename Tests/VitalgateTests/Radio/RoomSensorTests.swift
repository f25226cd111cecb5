import Testing

/// Room air belongs to no person: its readings are unassigned, unless a user assigns them.
@Suite struct RoomSensorTests {
    private func people(_ folder: TestFolder) throws -> [String: String] {
        var found: [String: String] = [:]
        for device in try folder.vitalgate("devices", "list", "--format", "ndjson").objects() {
            found[device["address"].text ?? ""] = device["subject"].text
        }
        return found
    }

    @Test func adoptedDeviceBelongsToPerson() throws {
        let folder = try TestFolder()
        func adopt(_ last: String, _ more: String...) throws -> String {
            let run = try folder.vitalgate(["devices", "adopt", "C0:01:02:03:04:0\(last)"] + more)
            #expect(run.status == 0, "\(run.errors)")
            return run.errors
        }
        #expect(try adopt("1", "--profile", "govee-h5075").contains("describe a room and are unassigned"))
        // With its battery's level, which is of the device.
        _ = try adopt("2", "--profile", "aranet4")
        #expect(try !adopt("3", "--profile", "govee-h5075", "--person", "me").contains("nobody's"))
        _ = try adopt("4", "--profile", "sig-heart-rate")
        // It may be a scale.
        _ = try adopt("5", "--profile", "bthome-v2")
        let found = try people(folder)
        let me = try #require(found["bluetooth:C0:01:02:03:04:04"])
        #expect(me != "unassigned")
        #expect(
            found.values.sorted() == [me, me, me, "unassigned", "unassigned"].sorted()
                && found["bluetooth:C0:01:02:03:04:01"] == "unassigned" && found["bluetooth:C0:01:02:03:04:02"] == "unassigned",
            "\(found)")
        // An adopted device keeps its person, also when it is adopted again.
        _ = try adopt("3", "--profile", "govee-h5074")
        #expect(try people(folder)["bluetooth:C0:01:02:03:04:03"] == me)
    }
}
