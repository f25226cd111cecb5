/// The units that health data meets, each defined by units above it in the table.
struct UnitAtoms: Sendable {
    private var atoms: [String: UnitAtom] = [:]

    /// UCUM's units for health from ``table``.
    static let standard = UnitAtoms()

    subscript(symbol: String) -> UnitAtom? { atoms[symbol] }

    private init() {
        for (symbol, base, isSpecial) in Self.bases {
            atoms[symbol] = UnitAtom(
                symbol: symbol, isMetric: symbol != "[pH]" && symbol != "[p'diop]", factor: .one,
                dimension: Dimension([base: 1]), isSpecial: isSpecial)
        }
        atoms["[pi]"] = UnitAtom(symbol: "[pi]", isMetric: false, factor: .circle, dimension: .dimensionless)
        for row in Self.table.utf8.split(separator: UInt8(ascii: "\n")) {
            let cells = row.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
            guard cells.count == 4 else { continue }
            define(cells[0], isMetric: cells[1] == "metric", value: cells[2], of: cells[3])
        }
        atoms["[IU]"] = atoms["[iU]"]
        atoms["l"] = atoms["L"]
    }

    private mutating func define(_ symbol: String, isMetric: Bool, value: String, of definition: String) {
        guard let numeral = try? Numeral(value), let multiple = ScaleFactor(numeral),
            let expression = try? UCUMParser.parse(definition, atoms: self),
            let measure = expression.measure, let factor = multiple.times(measure.factor)
        else { return }
        let offset = Self.offsets[symbol]
        atoms[symbol] = UnitAtom(
            symbol: symbol, isMetric: isMetric, factor: factor, dimension: measure.dimension, offset: offset,
            isSpecial: offset != nil)
    }

    /// The base units. All other units are multiples of them. HealthKit uses the gram as the base of mass, as UCUM does.
    ///
    /// UCUM has the coulomb as a base unit instead of SI's ampere, which makes no difference here. The amount of substance is a dimension
    /// here, not UCUM's 6.02e23, so that moles never become plain counts.
    private static let bases: [(String, Dimension.Base, isSpecial: Bool)] = [
        ("m", .length, false), ("g", .mass, false), ("s", .time, false), ("K", .temperature, false),
        ("A", .current, false), ("cd", .luminousIntensity, false), ("mol", .amount, false), ("rad", .angle, false),
        ("[iU]", .biological, false), ("B[SPL]", .soundLevel, true), ("B", .level, true), ("Np", .neper, true),
        ("[pH]", .acidity, true), ("[p'diop]", .prism, true),
    ]

    /// 273.15 K, and 459.67 degrees of 5/9 K.
    private static let offsets = [
        "Cel": UnitOffset(numerator: 27315, denominator: 100),
        "[degF]": UnitOffset(numerator: 45967, denominator: 180),
    ]

    /// The UCUM symbol, whether it takes prefixes, and its value in the units above it, from The Unified Code for Units of Measure, tables
    /// 1 to 24 (https://ucum.org/ucum). Exceptions: the millimetre of mercury is the conventional one, 13.5951 times 9.80665 Pa, as in
    /// HealthKit (UCUM rounds it to 133.322 Pa). Dalton and electronvolt are from CODATA 2018.
    static let table = """
        10*         -       10               1
        10^         -       10               1
        %           -       1                10*-2
        [ppth]      -       1                10*-3
        [ppm]       -       1                10*-6
        [ppb]       -       1                10*-9
        [pptr]      -       1                10*-12
        sr          metric  1                rad2
        deg         -       2                [pi].rad/360
        L           metric  1                dm3
        ar          metric  100              m2
        har         -       100              ar
        t           metric  1000             kg
        min         -       60               s
        h           -       60               min
        d           -       24               h
        wk          -       7                d
        a           -       365.25           d
        a_j         -       365.25           d
        a_g         -       365.2425         d
        mo          -       1                a/12
        mo_j        -       1                a_j/12
        mo_g        -       1                a_g/12
        Hz          metric  1                s-1
        N           metric  1                kg.m/s2
        Pa          metric  1                N/m2
        bar         metric  100000           Pa
        J           metric  1                N.m
        W           metric  1                J/s
        C           metric  1                A.s
        V           metric  1                J/C
        F           metric  1                C/V
        Ohm         metric  1                V/A
        S           metric  1                Ohm-1
        Wb          metric  1                V.s
        T           metric  1                Wb/m2
        H           metric  1                Wb/A
        lm          metric  1                cd.sr
        lx          metric  1                lm/m2
        Bq          metric  1                s-1
        Gy          metric  1                J/kg
        Sv          metric  1                J/kg
        Cel         metric  1                K
        [degF]      -       5                K/9
        kat         metric  1                mol/s
        U           metric  1                umol/min
        Eq          metric  1                mol
        osm         metric  1                mol
        u           metric  1.66053906660    10*-24.g
        eV          metric  1.602176634      10*-19.J
        cal         metric  4.184            J
        [Cal]       -       1                kcal
        dyn         metric  1                g.cm/s2
        [g]         metric  9.80665          m/s2
        gf          metric  1                g.[g]
        atm         -       101325           Pa
        m[H2O]      metric  9.80665          kPa
        m[Hg]       metric  133322.387415    Pa
        [gr]        -       64.79891         mg
        [lb_av]     -       7000             [gr]
        [oz_av]     -       1                [lb_av]/16
        [dr_av]     -       1                [oz_av]/16
        [oz_tr]     -       480              [gr]
        [stone_av]  -       14               [lb_av]
        [lbf_av]    -       1                [lb_av].[g]
        [car_m]     -       0.2              g
        [in_i]      -       2.54             cm
        [ft_i]      -       12               [in_i]
        [yd_i]      -       3                [ft_i]
        [mi_i]      -       5280             [ft_i]
        [nmi_i]     -       1852             m
        [kn_i]      -       1                [nmi_i]/h
        [sin_i]     -       1                [in_i]2
        [sft_i]     -       1                [ft_i]2
        [cin_i]     -       1                [in_i]3
        [in_i'Hg]   -       25.4             mm[Hg]
        [in_i'H2O]  -       25.4             mm[H2O]
        [psi]       -       1                [lbf_av]/[sin_i]
        [HP]        -       550              [ft_i].[lbf_av]/s
        [gal_us]    -       231              [in_i]3
        [qt_us]     -       1                [gal_us]/4
        [pt_us]     -       1                [qt_us]/2
        [foz_us]    -       1                [pt_us]/16
        [tbs_us]    -       1                [foz_us]/2
        [tsp_us]    -       1                [tbs_us]/3
        [cup_us]    -       16               [tbs_us]
        [gal_br]    -       4.54609          L
        [qt_br]     -       1                [gal_br]/4
        [pt_br]     -       1                [qt_br]/2
        [foz_br]    -       1                [pt_br]/20
        [diop]      -       1                m-1
        [MET]       -       3.5              mL/min/kg
        """
}
