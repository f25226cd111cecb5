/// Places of samples that were chosen, in a table of their own: memory stays flat whatever their number. Used inside a transaction.
struct ChosenPlaces {
    private let connection: Connection

    init(connection: Connection) throws(StoreError) {
        self.connection = connection
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS chosen(
                series INTEGER, start INTEGER, hash BLOB, PRIMARY KEY(series, start, hash)) WITHOUT ROWID;
            DELETE FROM chosen
            """)
    }

    /// Adds a place; one that is there stays there once.
    func add(_ place: SampleKey) throws(StoreError) {
        try connection.run(
            "INSERT OR IGNORE INTO temp.chosen VALUES(?, ?, ?)", .integer(place.series), .integer(place.start), .blob(place.hash))
    }

    /// Gives the places, some thousand at a time, and forgets them.
    func forEachChunk(_ body: ([SampleKey]) throws(StoreError) -> Void) throws(StoreError) {
        var last: SampleKey?
        while true {
            let statement = try connection.statement(
                """
                SELECT series, start, hash FROM temp.chosen WHERE (series, start, hash) > (?, ?, ?)
                ORDER BY series, start, hash LIMIT \(Settlement.chunk)
                """)
            try statement.bind([.integer(last?.series ?? .min), .integer(last?.start ?? .min), .blob(last?.hash ?? [])])
            var places: [SampleKey] = []
            while try statement.step() {
                try places.append(SampleKey(series: statement.integer(0), start: statement.integer(1), hash: statement.blob(2)))
            }
            statement.reset()
            guard let end = places.last else { break }
            last = end
            try body(places)
        }
        try connection.run("DELETE FROM temp.chosen")
    }
}
