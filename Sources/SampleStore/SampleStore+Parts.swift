/// The parts of a store. Each groups what one subject needs, and all use the store's connection.
///
///     let devices = try store.devices.adopted()
///     let weight = try store.samples.cursor(matching: SampleQuery(types: [.bodyMass]))
extension SampleStore {
    /// The programs that may read or write, with their permissions and tokens.
    public var clients: Clients { Clients(store: self) }
    /// The people who are logged in to the page.
    public var pageSessions: PageSessions { PageSessions(store: self) }
    /// The people whose readings are here, and what they keep: characteristics, medications, goals, and notes.
    public var people: People { People(store: self) }
    /// The limits that people are warned of, and what was told.
    public var alerts: Alerts { Alerts(store: self) }
    /// The adopted devices, their clocks, states, and users.
    public var devices: Devices { Devices(store: self) }
    /// The times that were recorded while the hub did not know the time.
    public var clock: HubClock { HubClock(store: self) }
    /// The progress of the stores that receive copies.
    public var targets: Targets { Targets(store: self) }
    /// The accounts of what was read and changed.
    public var ledger: Ledger { Ledger(store: self) }
    /// The readings that are held back until a person decides.
    public var quarantine: Quarantine { Quarantine(store: self) }
    /// Repairs of wrong units, and what makes one likely.
    public var repairs: Repairs { Repairs(store: self) }
    /// Readings that came more than once.
    public var duplicates: Duplicates { Duplicates(store: self) }
    /// The log of all changes, for those who follow it.
    public var changes: Changes { Changes(store: self) }
    /// The samples: finding, adding, correcting, and deleting them.
    public var samples: Samples { Samples(store: self) }
    /// The activity rings of days.
    public var activity: Activity { Activity(store: self) }
    /// The order in which sources count.
    public var sources: Sources { Sources(store: self) }
    /// The removal of a person.
    public var erasure: Erasure { Erasure(store: self) }
}

extension SampleStore {
    /// The programs that may read or write, with their permissions and tokens.
    public struct Clients {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// The people who are logged in to the page.
    public struct PageSessions {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// The people whose readings are here, and what they keep: characteristics, medications, goals, and notes.
    public struct People {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// The limits that people are warned of, and what was told.
    public struct Alerts {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// The adopted devices, their clocks, states, and users.
    public struct Devices {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// The times that were recorded while the hub did not know the time.
    public struct HubClock {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// The progress of the stores that receive copies.
    public struct Targets {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// The accounts of what was read and changed.
    public struct Ledger {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// The readings that are held back until a person decides.
    public struct Quarantine {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// Repairs of wrong units, and what makes one likely.
    public struct Repairs {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// Readings that came more than once.
    public struct Duplicates {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// The log of all changes, for those who follow it.
    public struct Changes {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// The samples: finding, adding, correcting, and deleting them.
    public struct Samples {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// The activity rings of days.
    public struct Activity {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// The order in which sources count.
    public struct Sources {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }

    /// The removal of a person.
    public struct Erasure {
        let store: SampleStore
        var connection: Connection { store.connection }
        var table: SampleTable { store.table }
    }
}
