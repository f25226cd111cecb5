extension Schema {
    /// - `client.required`: the clinical types that a client cannot work without, separated by commas. NULL until the client is added with
    ///   them or requests them for the first time. After that only a person changes them. If a client could choose them with each request,
    ///   it would learn which types were denied.
    static let requiredTypes = """
        ALTER TABLE client ADD COLUMN required TEXT;
        """
}
