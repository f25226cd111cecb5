extension Schema {
    /// - `change_by_first`: a reader takes the entries in the order of their first numbers. It takes the place of an index of the last
    ///   ones, which had to be written anew with each commit that an entry was joined with.
    /// - `longestChange`: how many numbers an entry spans at most, so that a reader knows how far before its anchor one may begin.
    static let feed = """
        DROP INDEX change_by_seq;
        CREATE INDEX change_by_first ON change(first_seq);
        INSERT INTO setting SELECT 'longestChange', max(\(ChangeLog.longest), coalesce(max(last_seq - first_seq) + 1, 0)) FROM change;
        """
}
