import Pipeline

extension FHIRExporter {
    /// Reads the mark of the last delivery. Returns `nil` if the server keeps no mark, because it does not offer Devices or refuses them.
    package func found() throws(DeliveryError) -> FoundMark? {
        if keepsMarks == nil { keepsMarks = CapabilityCheck.offersDevices(try server.get("metadata"), ids: settings.ids) }
        guard keepsMarks == true else { return nil }
        do throws(DeliveryError) {
            let mark = try readMark()
            return FoundMark(identity: mark?.identity, mark: mark)
        } catch {
            guard [.refused, .forbidden, .unfit].contains(error.kind) else { throw error }
            keepsMarks = false
            return nil
        }
    }

    /// Writes a mark before the first delivery. Returns `false` if the server refuses Devices or drops the extension with the mark.
    package func claim(_ mark: TargetMark) throws(DeliveryError) -> Bool {
        guard try isAccepted(mark) else { return false }
        guard let there = try readMark() else {
            guard settings.ids == .client || markID != nil else {
                throw DeliveryError(.unreachable, "a search does not find the new mark yet")
            }
            keepsMarks = false
            return false
        }
        guard there.holder == mark.holder else {
            throw DeliveryError(.unreachable, "another store has claimed this server at the same time")
        }
        return true
    }

    /// Executes a transaction that contains a mark.
    ///
    /// - Throws: ``DeliveryError`` of the kind `unreachable` if the server refused the transaction because of the mark. The engine then
    ///   tries again, without marks.
    func transact(_ bundle: TransactionBundle, with mark: TargetMark?) throws(DeliveryError) -> FHIRServer.Outcome {
        do throws(DeliveryError) {
            return try server.transact(bundle)
        } catch {
            guard let mark, [.refused, .forbidden].contains(error.kind), try !isAccepted(mark) else { throw error }
            throw DeliveryError(.unreachable, "the server no longer accepts the Device that contains the mark")
        }
    }

    var markResource: MarkResource { MarkResource(store: context.store, target: context.name) }

    /// Writes a mark alone. Returns `false` if the server refuses it.
    private func isAccepted(_ mark: TargetMark) throws(DeliveryError) -> Bool {
        var plan = FHIRPlan(base: server.base, ids: settings.ids, devices: [])
        plan.put(mark, markResource, at: markID)
        do throws(DeliveryError) {
            switch try server.transact(plan.bundle) {
            case .done: return true
            case .overtaken(let error): throw DeliveryError(.unreachable, error.reason)
            }
        } catch {
            guard [.refused, .forbidden].contains(error.kind) else { throw error }
            // A server that forbids everything does not refuse the mark.
            if error.kind == .forbidden, try !hasAccess() { throw error }
            keepsMarks = false
            return false
        }
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
