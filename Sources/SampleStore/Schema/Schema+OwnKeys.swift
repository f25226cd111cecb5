extension Schema {
    /// - `device.own_key`: what the readings of a device go by that says the same of itself as another one; NULL for all others.
    static let ownKeys = """
        ALTER TABLE device ADD COLUMN own_key TEXT;
        """
}
