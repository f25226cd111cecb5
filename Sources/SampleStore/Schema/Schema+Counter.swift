extension Schema {
    /// - `device.counter`: how far a device that encrypts its advertisements has counted them, in the transaction of the samples; NULL while
    ///   none came since it was adopted with its key.
    static let counter = """
        ALTER TABLE device ADD COLUMN counter INTEGER;
        """
}
