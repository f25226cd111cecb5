/// A part of a store: the members on one subject. All parts use the store's connection.
///
///     let devices = try store.devices.adopted()
///     let weights = try store.samples.cursor(matching: SampleQuery(types: [.bodyMass]))
protocol StorePart {
    var store: SampleStore { get }
}

extension StorePart {
    var connection: Connection { store.connection }
    var table: SampleTable { store.table }
}

extension SampleStore {
    public struct Clients: StorePart { let store: SampleStore }
    /// Programs that may read or write, with their permissions and tokens.
    public var clients: Clients { Clients(store: self) }

    public struct WriteBack: StorePart { let store: SampleStore }
    /// The samples that phones write to their own stores of health data.
    public var writeBack: WriteBack { WriteBack(store: self) }

    public struct PageSessions: StorePart { let store: SampleStore }
    /// Logins of people to the page.
    public var pageSessions: PageSessions { PageSessions(store: self) }

    public struct People: StorePart { let store: SampleStore }
    /// People with their characteristics, medications, goals, notes, and cards.
    public var people: People { People(store: self) }

    public struct Alerts: StorePart { let store: SampleStore }
    /// Alerts of people, the events that raised them, and the receivers of messages.
    public var alerts: Alerts { Alerts(store: self) }

    public struct Devices: StorePart { let store: SampleStore }
    /// Adopted devices with their clocks, states, and users.
    public var devices: Devices { Devices(store: self) }

    public struct HubClock: StorePart { let store: SampleStore }
    /// The time of the hub while its clock is not set.
    public var clock: HubClock { HubClock(store: self) }

    public struct Targets: StorePart { let store: SampleStore }
    /// Targets with their progress and rejected samples.
    public var targets: Targets { Targets(store: self) }

    public struct Ledger: StorePart { let store: SampleStore }
    /// Ledger entries of imports, streams, and changes.
    public var ledger: Ledger { Ledger(store: self) }

    public struct Quarantine: StorePart { let store: SampleStore }
    /// Quarantined readings.
    public var quarantine: Quarantine { Quarantine(store: self) }

    public struct Repairs: StorePart { let store: SampleStore }
    /// Repairs of units, times, and people, and suspicions of a wrong unit.
    public var repairs: Repairs { Repairs(store: self) }

    public struct Duplicates: StorePart { let store: SampleStore }
    /// Readings that were received more than once.
    public var duplicates: Duplicates { Duplicates(store: self) }

    public struct Changes: StorePart { let store: SampleStore }
    /// The change log.
    public var changes: Changes { Changes(store: self) }

    public struct Samples: StorePart { let store: SampleStore }
    /// Samples: queries, entries by hand, corrections, and deletions.
    public var samples: Samples { Samples(store: self) }

    public struct Activity: StorePart { let store: SampleStore }
    /// Activity rings by day.
    public var activity: Activity { Activity(store: self) }

    public struct Sources: StorePart { let store: SampleStore }
    /// The order in which the sources of a person count.
    public var sources: Sources { Sources(store: self) }

    public struct Erasure: StorePart { let store: SampleStore }
    /// Erasure of all data of a person.
    public var erasure: Erasure { Erasure(store: self) }
}
