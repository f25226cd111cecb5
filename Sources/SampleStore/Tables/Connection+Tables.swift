/// The tables of the store. Each type has all SQL on its tables (`scripts/check-tables`).
extension Connection {
    // Samples
    var samples: SampleTable { SampleTable(connection: self) }
    var series: SeriesTable { SeriesTable(connection: self) }
    var records: RecordTable { RecordTable(connection: self) }
    var derived: DerivedTable { DerivedTable(connection: self) }
    var duplicates: DuplicateTable { DuplicateTable(connection: self) }
    var decisions: DecisionTable { DecisionTable(connection: self) }
    var summaries: SummaryTable { SummaryTable(connection: self) }

    // People and access
    var grants: GrantTable { GrantTable(connection: self) }
    var writeBack: WriteBackTable { WriteBackTable(connection: self) }

    // Ledger
    var ledger: LedgerTable { LedgerTable(connection: self) }
    var changeTable: ChangeTable { ChangeTable(connection: self) }
    var repairs: RepairTable { RepairTable(connection: self) }
    var quarantine: QuarantineTable { QuarantineTable(connection: self) }
    var settings: SettingTable { SettingTable(connection: self) }
}
