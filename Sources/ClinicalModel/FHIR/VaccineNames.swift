/// The names of vaccines: the CDC's short descriptions of CVX codes.
enum VaccineNames {
    /// FHIR's URI of the code system.
    static let system = "http://hl7.org/fhir/sid/cvx"

    /// Source: CDC, IIS: HL7 Standard Code Set CVX (https://www2a.cdc.gov/vaccines/iis/iisstandards/vaccines.asp?rpt=cvx), from
    /// HealthIntersections/fhirserver@6122b003, sql/tx_db.sql. Newer codes are missing, so their own displays are used.
    static let names: [String: String] = CodeTable.names(table)

    private static let table = """
        01 DTP
        02 OPV
        03 MMR
        04 M/R
        05 measles
        06 rubella
        07 mumps
        08 Hep B, adolescent or pediatric
        09 Td (adult), adsorbed
        10 IPV
        11 pertussis
        17 Hib, unspecified formulation
        18 rabies, intramuscular injection
        19 BCG
        20 DTaP
        21 varicella
        22 DTP-Hib
        23 plague
        24 anthrax
        25 typhoid, oral
        26 cholera
        28 DT (pediatric)
        31 Hep A, pediatric, unspecified formulation
        32 meningococcal MPSV4
        33 pneumococcal polysaccharide PPV23
        35 tetanus toxoid, adsorbed
        37 yellow fever
        38 rubella/mumps
        39 Japanese encephalitis SC
        40 rabies, intradermal injection
        41 typhoid, parenteral
        43 Hep B, adult
        44 Hep B, dialysis
        45 Hep B, unspecified formulation
        46 Hib (PRP-D)
        47 Hib (HbOC)
        48 Hib (PRP-T)
        49 Hib (PRP-OMP)
        50 DTaP-Hib
        51 Hib-Hep B
        52 Hep A, adult
        62 HPV, quadrivalent
        66 Lyme disease
        74 rotavirus, tetravalent
        75 vaccinia (smallpox)
        77 tick-borne encephalitis
        83 Hep A, ped/adol, 2 dose
        84 Hep A, ped/adol, 3 dose
        85 Hep A, unspecified formulation
        88 influenza, unspecified formulation
        89 polio, unspecified formulation
        90 rabies, unspecified formulation
        91 typhoid, unspecified formulation
        94 MMRV
        100 pneumococcal conjugate PCV 7
        101 typhoid, ViCPs
        103 meningococcal C conjugate
        104 Hep A-Hep B
        106 DTaP, 5 pertussis antigens
        107 DTaP, unspecified formulation
        108 meningococcal, unspecified formulation
        109 pneumococcal, unspecified formulation
        110 DTaP-Hep B-IPV
        111 influenza, live, intranasal
        113 Td (adult) preservative free
        114 meningococcal MCV4P
        115 Tdap
        116 rotavirus, pentavalent
        118 HPV, bivalent
        119 rotavirus, monovalent
        120 DTaP-Hib-IPV
        121 zoster
        122 rotavirus, unspecified formulation
        130 DTaP-IPV
        133 Pneumococcal conjugate PCV 13
        134 Japanese Encephalitis IM
        135 Influenza, high dose seasonal
        136 Meningococcal MCV4O
        137 HPV, unspecified formulation
        138 Td (adult)
        139 Td(adult) unspecified formulation
        140 Influenza, seasonal, injectable, preservative free
        141 Influenza, seasonal, injectable
        144 influenza, seasonal, intradermal, preservative free
        147 meningococcal MCV4, unspecified formulation
        148 Meningococcal C/Y-HIB PRP
        149 influenza, live, intranasal, quadrivalent
        150 influenza, injectable, quadrivalent, preservative free
        152 Pneumococcal Conjugate, unspecified formulation
        153 Influenza, injectable, MDCK, preservative free
        155 influenza, recombinant, injectable, preservative free
        158 influenza, injectable, quadrivalent
        161 Influenza, injectable,quadrivalent, preservative free, pediatric
        162 meningococcal B, recombinant
        163 meningococcal B, OMV
        164 meningococcal B, unspecified
        """
}
