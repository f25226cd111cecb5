extension Schema {
    /// - `change_by_first`: the order in which readers read the entries, by their first numbers. It replaces an index of the last numbers,
    ///   which had to be rewritten with each commit that was joined to an entry.
    /// - `longestChange`: the maximum count of numbers in an entry. From it a reader knows how far before its anchor an entry may begin.
    static let feed = """
        DROP INDEX change_by_seq;
        CREATE INDEX change_by_first ON change(first_seq);
        INSERT INTO setting SELECT 'longestChange', max(\(ChangeLog.longest), coalesce(max(last_seq - first_seq) + 1, 0)) FROM change;
        """
}
