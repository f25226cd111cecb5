extension Schema {
    /// - `device.own_key`: the key for the readings of a device that reports the same identity as another device, NULL for all others.
    static let ownKeys = """
        ALTER TABLE device ADD COLUMN own_key TEXT;
        """
}
