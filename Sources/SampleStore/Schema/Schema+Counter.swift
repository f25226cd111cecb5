extension Schema {
    /// - `device.counter`: the last counter of a device that encrypts its advertisements, written in the transaction of the samples. NULL
    ///   until the first advertisement after the device was adopted with its key.
    static let counter = """
        ALTER TABLE device ADD COLUMN counter INTEGER;
        """
}
