extension Schema {
    /// Those of a sample that start within seconds of it are found among their series' rows; only the others need an index.
    static let farWitnesses = """
        CREATE INDEX witness_far ON witness(of_series, of_start, of_hash) WHERE start - of_start NOT BETWEEN -5000000 AND 5000000;
        DROP INDEX witness_of;
        """
}
