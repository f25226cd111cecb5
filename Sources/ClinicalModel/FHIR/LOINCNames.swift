/// Names of LOINC codes, for results that contain a code without a name.
///
/// This material contains content from LOINC (http://loinc.org). LOINC is copyright © Regenstrief Institute, Inc. and the Logical
/// Observation Identifiers Names and Codes (LOINC) Committee and is available at no cost under the license at
/// http://loinc.org/license. LOINC® is a registered United States trademark of Regenstrief Institute, Inc.
enum LOINCNames {
    /// Source: the long common names that HL7's US Core, the Argonaut project and SMART Health IT write with these codes in the resources
    /// under `Tests/ClinicalModelTests/Files`. Other codes have no name here.
    static let names: [String: String] = CodeTable.names(table)

    private static let table = """
        13945-1 Erythrocytes [#/area] in Urine sediment by Microscopy high power field
        20565-8 Carbon Dioxide
        2069-3 Chloride
        2075-0 Chloride SerPl-sCnc
        2085-9 High Density Lipoprotein Cholesterol
        2093-3 Total Cholesterol
        2160-0 Creat SerPl-mCnc
        18262-6 Low Density Lipoprotein Cholesterol
        2339-0 Glucose [Mass/volume] in Blood
        24321-2 Basic metabolic 2000 panel - Serum or Plasma
        2571-8 Triglycerides
        26499-4 Neutrophils [#/volume] in Blood
        26515-7 Platelets [#/volume] in Blood
        2708-6 Oxygen saturation in Arterial blood
        2823-3 Potassium SerPl-sCnc
        29463-7 Body Weight
        2947-0 Sodium
        2951-2 Sodium SerPl-sCnc
        3094-0 BUN SerPl-mCnc
        3141-9 Body weight Measured
        32167-9 Clarity of Urine
        33914-3 Estimated Glomerular Filtration Rate
        38483-4 Creatinine
        39156-5 Body Mass Index
        4548-4 Hemoglobin A1c/Hemoglobin.total in Blood
        49765-1 Calcium
        51990-0 Basic Metabolic Panel
        55284-4 Blood Pressure
        57698-3 Lipid Panel
        5770-3 Bilirubin.total [Presence] in Urine by Test strip
        5794-3 Hemoglobin [Presence] in Urine by Test strip
        5799-2 Leukocyte esterase [Presence] in Urine by Test strip
        5821-4 Leukocytes [#/area] in Urine sediment by Microscopy high power field
        59408-5 Oxygen saturation in Arterial blood by Pulse oximetry
        6298-4 Potassium
        6299-2 Urea Nitrogen
        69405-9 Glomerular filtration rate/1.73 sq M.predicted
        718-7 Hemoglobin [Mass/volume] in Blood
        785-6 MCH [Entitic mass] by Automated count
        787-2 Mean Corpuscular Volume (MCV), Red blood cells
        789-8 Erythrocytes [#/volume] in Blood by Automated count
        8287-5 Head circumference
        8302-2 Body height
        8306-3 Body height --lying
        8310-5 Body temperature
        8331-1 Oral temperature
        8462-4 Diastolic blood pressure
        8480-6 Systolic blood pressure
        85354-9 Blood pressure panel with all children optional
        8867-4 Heart rate
        8884-9 Heart rate rhythm
        9279-1 Respiratory rate
        """
}
