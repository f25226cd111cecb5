extension Schema {
    /// - `client.required`: the clinical types without which a client does not work, joined by commas. NULL until the client is added with them or
    ///   asks for them first. Only a person changes them then: a client that chose them anew with each request would learn what was refused.
    static let requiredTypes = """
        ALTER TABLE client ADD COLUMN required TEXT;
        """
}
