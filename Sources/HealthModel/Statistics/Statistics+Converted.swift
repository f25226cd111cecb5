extension Statistics {
    /// The same with its figures in another unit.
    public func converted(by conversion: UnitConversion) -> Statistics {
        var converted = self
        converted.sum = conversion(sum)
        converted.average = average.map { conversion($0) }
        converted.minimum = minimum.map { conversion($0) }
        converted.maximum = maximum.map { conversion($0) }
        converted.mostRecent = mostRecent.map { conversion($0) }
        converted.percentiles = percentiles.map { conversion($0) }
        return converted
    }
}
