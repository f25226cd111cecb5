extension Schema {
    /// Witnesses that start within seconds of their sample are found among the rows of their series. Only the others need an index.
    static let farWitnesses = """
        CREATE INDEX witness_far ON witness(of_series, of_start, of_hash) WHERE start - of_start NOT BETWEEN -5000000 AND 5000000;
        DROP INDEX witness_of;
        """
}
