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

    /// The display symbol of a unit: the catalogue's, or its UCUM code in the usual signs.
    func symbol(_ unit: Unit) -> String { symbol(ofCode: unit.code) }

    /// The same for a code, such as `°F` for `[degF]`.
    func symbol(ofCode code: String) -> String { texts["unit." + code] ?? Self.signs(of: code) }

    /// The unit of a UCUM code, or of a sign that the page shows, such as `°F`.
    static func unit(typed text: String) throws(UnitError) -> Unit {
        do { return try Unit(written: text) } catch {
            guard let code = atoms.first(where: { $0.value == text })?.key else { throw error }
            return try Unit(written: code)
        }
    }

    /// The usual signs of UCUM's atoms with brackets or letters that are not read outside of it.
    private static let atoms = [
        "[degF]": "°F", "Cel": "°C", "mm[Hg]": "mmHg", "m[H2O]": "mH₂O", "[lb_av]": "lb", "[oz_av]": "oz", "[stone_av]": "st",
        "[in_i]": "in",
        "[ft_i]": "ft", "[yd_i]": "yd", "[mi_i]": "mi", "[foz_us]": "fl oz", "[cup_us]": "cup", "[diop]": "D", "[iU]": "IU",
        "[pH]": "pH", "[ppm]": "ppm", "dB[SPL]": "dB", "dB[HL]": "dB", "[Cal]": "kcal", "deg": "°", "ug": "µg", "umol": "µmol",
        "uL": "µL", "us": "µs", "uV": "µV",
    ]

    /// A code with its atoms as signs and without annotations: `10*3/uL` becomes `10³/µL`, and `{beats}/min` becomes `/min`.
    private static func signs(of code: String) -> String {
        var (text, atom, depth) = ("", "", 0)
        func end() -> String {
            defer { atom = "" }
            if atom.hasPrefix("10*") { return "10" + String(atom.dropFirst(3).map { superscripts[$0] ?? $0 }) }
            guard let last = atom.last, last.isNumber, atom.contains(where: \.isLetter), atoms[atom] == nil else {
                return atoms[atom] ?? atom
            }
            let base = String(atom.dropLast())
            return (atoms[base] ?? base) + String(superscripts[last] ?? last)
        }
        for letter in code {
            switch letter {
            case "{": depth += 1
            case "}": depth -= 1
            case _ where depth > 0: break
            case "/", ".", "(", ")":
                text += end() + (letter == "." ? "·" : String(letter))
            default: atom.append(letter)
            }
        }
        text += end()
        return text
    }

    private static let superscripts: [Character: Character] = [
        "2": "²", "3": "³", "4": "⁴", "5": "⁵", "6": "⁶", "9": "⁹", "1": "¹", "0": "⁰", "-": "⁻", "7": "⁷", "8": "⁸",
    ]
}
