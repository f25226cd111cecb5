import Testing

/// Deleting objects that others belong to.
@Suite struct ObjectDeletionTests {
    private func uuids(_ folder: TestFolder) throws -> Set<String> {
        Set(try folder.vitalgate("query", "all", "--format", "ndjson").objects().compactMap { $0["uuid"].text })
    }

    /// A correlation's samples stay, as in HealthKit, and the command reports this.
    @Test func objectsStay() throws {
        let objects = try ObjectStore.filled()
        let all = try uuids(objects.folder)
        let run = try objects.folder.vitalgate("delete", objects["pressure"])
        #expect(run.errors.contains("1 sample deleted, but 2 objects that belong to them are kept"))
        #expect(try uuids(objects.folder) == all.subtracting([objects["pressure"]]))
        #expect(try objects.folder.vitalgate("restore", objects["pressure"]).errors.contains("1 sample restored (this"))
        #expect(try uuids(objects.folder) == all)
        // An object that the query matches itself is not counted twice.
        let both = try objects.folder.vitalgate("delete", objects["pressure"], objects["systolic"])
        #expect(both.errors.contains("2 samples deleted, but 1 object that belongs to them is kept"))
    }

    @Test func objectsGoAndComeBack() throws {
        let objects = try ObjectStore.filled()
        let all = try uuids(objects.folder)
        let three = Set([objects["pressure"], objects["systolic"], objects["diastolic"]])
        let preview = try objects.folder.vitalgate("delete", "--type", "bloodPressure", "--with-objects")
        #expect(preview.errors.contains("3 samples would be deleted, including 2 objects that belong to them"))
        #expect(try uuids(objects.folder) == all)
        #expect(
            try objects.folder.vitalgate("delete", "--type", "bloodPressure", "--with-objects", "--yes").errors
                .contains("3 samples deleted, including 2"))
        #expect(try uuids(objects.folder) == all.subtracting(three))
        let alone = try objects.folder.vitalgate("restore", objects["pressure"])
        #expect(alone.errors.contains("1 sample restored, but 2 objects deleted with them are not"))
        #expect(try objects.folder.vitalgate("delete", objects["pressure"]).status == 0)
        // They were deleted by another change than the correlation, so they are restored by their own UUIDs or by undoing that change.
        #expect(
            try objects.folder.vitalgate("restore", objects["pressure"], "--with-objects").errors.contains("1 sample restored"))
        #expect(try objects.folder.vitalgate("restore", objects["systolic"], objects["diastolic"]).status == 0)
        #expect(try uuids(objects.folder) == all)
        #expect(try objects.folder.vitalgate("delete", objects["pressure"], "--with-objects").status == 0)
        #expect(try uuids(objects.folder) == all.subtracting(three))
        #expect(
            try objects.folder.vitalgate("restore", objects["pressure"], "--with-objects").errors.contains(
                "3 samples restored (this"))
        #expect(try uuids(objects.folder) == all)
        #expect(try objects.folder.vitalgate("store", "check", "--deep").output == "ok\n")
    }

    /// A workout's route is deleted with it. A missing route does no harm.
    @Test func aWorkoutsRoutes() throws {
        let objects = try ObjectStore.filled()
        let run = try objects.folder.vitalgate("delete", objects["workout"], "--with-objects")
        #expect(run.errors.contains("2 samples deleted, including 1 object that belongs to them"))
        let left = try uuids(objects.folder)
        #expect(!left.contains(objects["route"]) && !left.contains(objects["workout"]))
        let undone = try objects.folder.vitalgate("ledger", "list", "--format", "ndjson").objects().last?["ingest"].integer
        #expect(try objects.folder.vitalgate("ledger", "undo", "\(undone ?? 0)").status == 0)
        #expect(try uuids(objects.folder) == left.union([objects["route"], objects["workout"]]))
        let check = try objects.folder.vitalgate("store", "check", "--deep")
        #expect(check.output == "ok\n" && check.errors.contains("1 routes referenced by a workout are not in the store"))
    }
}
