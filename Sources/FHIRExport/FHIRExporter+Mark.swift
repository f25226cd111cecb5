import HealthModel
import Pipeline

extension FHIRExporter {
    /// Reads the mark of the last delivery. Returns `nil` if the server does not offer what a mark needs: to read and write Devices.
    public func found() throws(DeliveryError) -> FoundMark? {
        guard !refusesMarks, try offersDevices() else { return nil }
        do throws(DeliveryError) {
            let mark = try readMark()
            return FoundMark(identity: mark?.identity, mark: mark)
        } catch {
            guard [.refused, .forbidden, .unfit].contains(error.kind) else { throw error }
            return nil
        }
    }

    /// Writes a mark before the first delivery. Returns `false` if the server refuses Devices or does not keep the extension with the
    /// mark.
    public func claim(_ mark: TargetMark) throws(DeliveryError) -> Bool {
        do throws(DeliveryError) {
            var plan = FHIRPlan(base: server.base, ids: settings.ids, devices: [])
            plan.put(mark, markResource, at: markID)
            if case .overtaken(let error) = try server.transact(plan.bundle) { throw error }
            guard let there = try readMark() else {
                // A search may need a moment to find what was created.
                if settings.ids == .server, markID == nil {
                    throw DeliveryError(.unreachable, "the mark that was written is not found by a search yet")
                }
                refusesMarks = true
                return false
            }
            guard there.holder == mark.holder else {
                throw DeliveryError(.unreachable, "another store has claimed this server at the same time")
            }
            return true
        } catch {
            guard [.refused, .forbidden].contains(error.kind) else { throw error }
            refusesMarks = true
            return false
        }
    }

    var markResource: MarkResource { MarkResource(store: context.store, target: context.name) }

    private func offersDevices() throws(DeliveryError) -> Bool {
        if let known = hasDevices { return known }
        let offered = CapabilityCheck.offersDevices(try server.get("metadata"), ids: settings.ids)
        hasDevices = offered
        return offered
    }

    private func readMark() throws(DeliveryError) -> TargetMark? {
        let device: FHIRResource?
        switch settings.ids {
        case .client: device = try server.get("Device/\(markResource.id)")
        case .server:
            let found = try server.get("Device?\(markResource.condition)")
            let ids = (found?.entry ?? []).compactMap(\.resource).filter { $0.resourceType == "Device" }.compactMap(\.id)
            markID = ids.min { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
            // A search may return an older version than a read.
            device = if let markID { try server.get("Device/\(markID)") } else { nil }
        }
        return device.flatMap(MarkResource.mark)
    }
}
