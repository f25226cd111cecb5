import HealthModel

extension PageValues {
    /// Groups of common units for the same dimension.
    private static let units = [
        ["kg", "[lb_av]", "[stone_av]"], ["Cel", "[degF]"], ["mg/dL", "mmol/L"], ["kcal", "kJ"], ["m", "km", "[mi_i]", "[ft_i]"],
        ["cm", "[in_i]"], ["/min", "Hz"], ["ms", "s"], ["mm[Hg]", "kPa"],
    ]

    /// The common units of a type. The person's own unit comes first.
    func choices(of type: SampleType) -> [Unit] {
        let own = unit(of: type)
        let known = Self.units.first { $0.contains(own.code) || $0.contains(type.canonicalUnit.code) } ?? []
        let others = known.compactMap { try? Unit(ucum: $0) }.filter { $0.code != own.code }
        return [own] + others.filter { (try? conversion(of: type, to: $0)) != nil }
    }
}
