/// The names of FHIR's resource types.
enum ResourceTypes {
    /// The types of DSTU2 and R4 (https://hl7.org/fhir/DSTU2/resourcelist.html, https://hl7.org/fhir/R4/resourcelist.html), from the
    /// packages that the structure tables name.
    static let all: Set<String> = Set(
        """
        Account ActivityDefinition AdverseEvent AllergyIntolerance Appointment AppointmentResponse AuditEvent Basic Binary
        BiologicallyDerivedProduct BodySite BodyStructure Bundle CapabilityStatement CarePlan CareTeam CatalogEntry
        ChargeItem ChargeItemDefinition Claim ClaimResponse ClinicalImpression CodeSystem Communication CommunicationRequest
        CompartmentDefinition Composition ConceptMap Condition Conformance Consent Contract Coverage
        CoverageEligibilityRequest CoverageEligibilityResponse DataElement DetectedIssue Device DeviceComponent
        DeviceDefinition DeviceMetric DeviceRequest DeviceUseRequest DeviceUseStatement DiagnosticOrder DiagnosticReport
        DocumentManifest DocumentReference EffectEvidenceSynthesis EligibilityRequest EligibilityResponse Encounter Endpoint
        EnrollmentRequest EnrollmentResponse EpisodeOfCare EventDefinition Evidence EvidenceVariable ExampleScenario
        ExplanationOfBenefit FamilyMemberHistory Flag Goal GraphDefinition Group GuidanceResponse HealthcareService
        ImagingObjectSelection ImagingStudy Immunization ImmunizationEvaluation ImmunizationRecommendation
        ImplementationGuide InsurancePlan Invoice Library Linkage List Location Measure MeasureReport Media Medication
        MedicationAdministration MedicationDispense MedicationKnowledge MedicationOrder MedicationRequest
        MedicationStatement MedicinalProduct MedicinalProductAuthorization MedicinalProductContraindication
        MedicinalProductIndication MedicinalProductIngredient MedicinalProductInteraction MedicinalProductManufactured
        MedicinalProductPackaged MedicinalProductPharmaceutical MedicinalProductUndesirableEffect MessageDefinition
        MessageHeader MetadataResource MolecularSequence NamingSystem NutritionOrder Observation ObservationDefinition
        OperationDefinition OperationOutcome Order OrderResponse Organization OrganizationAffiliation Parameters Patient
        PaymentNotice PaymentReconciliation Person PlanDefinition Practitioner PractitionerRole Procedure ProcedureRequest
        ProcessRequest ProcessResponse Provenance Questionnaire QuestionnaireResponse ReferralRequest RelatedPerson
        RequestGroup ResearchDefinition ResearchElementDefinition ResearchStudy ResearchSubject RiskAssessment
        RiskEvidenceSynthesis Schedule SearchParameter ServiceRequest Slot Specimen SpecimenDefinition StructureDefinition
        StructureMap Subscription Substance SubstanceNucleicAcid SubstancePolymer SubstanceProtein
        SubstanceReferenceInformation SubstanceSourceMaterial SubstanceSpecification SupplyDelivery SupplyRequest Task
        TerminologyCapabilities TestReport TestScript ValueSet VerificationResult VisionPrescription
        """.split(whereSeparator: \.isWhitespace).map(String.init))

    /// A type's name for a path, or `Resource` for an unknown type.
    static func shown(_ name: String) -> String { all.contains(name) ? name : "Resource" }
}
