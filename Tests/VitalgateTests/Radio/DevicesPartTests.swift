import Testing

/// `devices part`, as far as no radio is needed for it.
@Suite struct DevicesPartTests {
    @Test func refusesInvalidParting() throws {
        let folder = try TestFolder()
        let (strap, meter, deleted) = ("C0:01:02:03:04:01", "C0:01:02:03:04:04", "C0:01:02:03:04:77")
        #expect(try folder.vitalgate("devices", "adopt", strap, "--profile", "sig-heart-rate").status == 0)
        #expect(try folder.vitalgate("devices", "adopt", meter, "--profile", "sig-glucose").status == 0)
        let alone = try folder.vitalgate("devices", "part", strap)
        #expect(alone.status == 65 && alone.errors.contains("no other adopted device"), "\(alone.errors)")
        let unknown = try folder.vitalgate("devices", "part", deleted)
        #expect(unknown.status == 65 && unknown.errors.contains("is adopted"), "\(unknown.errors)")
        // A meter's repeated records would be stored again.
        let keeping = try folder.vitalgate("devices", "part", meter)
        #expect(keeping.status == 65 && keeping.errors.contains("stored twice"), "\(keeping.errors)")
        #expect(try folder.vitalgate("devices", "part", "strap").status == 64)
        let keys = try folder.vitalgate("devices", "list", "--format", "ndjson").objects().compactMap { $0["key"].text }
        #expect(Set(keys) == ["bluetooth:\(strap)", "bluetooth:\(meter)"])
    }
}
