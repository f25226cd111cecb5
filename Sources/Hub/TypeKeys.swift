import HealthModel

/// Objects of the configuration whose keys are types, by any of their names. Errors contain the path of the key.
enum TypeKeys {
    /// Returns the values by type.
    ///
    /// - Throws: ``ConfigurationError`` if a name is unknown or ambiguous, or two names mean one type.
    static func values<Value>(_ values: [String: Value], at path: String) throws(ConfigurationError) -> [SampleType: Value] {
        var found: [SampleType: Value] = [:]
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            let type = try type(name, at: path)
            guard found.updateValue(value, forKey: type) == nil else {
                throw ConfigurationError("'\(path)': '\(type.id)' occurs twice, by different names")
            }
        }
        return found
    }

    /// Returns the type that a name means.
    ///
    /// - Throws: ``ConfigurationError`` if the name is unknown or ambiguous.
    static func type(_ name: String, at path: String) throws(ConfigurationError) -> SampleType {
        do throws(TypeNameError) {
            return try SampleType(anyName: name)
        } catch {
            throw ConfigurationError("'\(path)': \(error.description)")
        }
    }

    /// Returns the units by type.
    ///
    /// - Throws: ``ConfigurationError`` if a name or a unit is not valid.
    static func units(_ codes: [String: String], at path: String) throws(ConfigurationError) -> [SampleType: HealthModel.Unit] {
        var found: [SampleType: HealthModel.Unit] = [:]
        for (type, code) in try values(codes, at: path).sorted(by: { $0.key.id < $1.key.id }) {
            let path = "\(path).\(type.id)"
            guard type.kind == .quantity else { throw ConfigurationError("'\(path)': it is not a quantity type") }
            do throws(UnitError) {
                let unit = try HealthModel.Unit(written: code)
                _ = try type.canonicalUnit.conversion(to: unit, molarMass: type.molarMass)
                found[type] = unit
            } catch {
                throw ConfigurationError("'\(path)': \(error.description)")
            }
        }
        return found
    }
}
