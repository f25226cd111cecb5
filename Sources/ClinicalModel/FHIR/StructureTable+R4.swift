extension StructureTable {
    /// The types of R4 that clinical records use.
    ///
    /// Source: HL7 FHIR 4.0: StructureDefinitions with their elements, cardinalities, types, required codes and the types that references
    /// refer to, from the Python packages `fhirclient` 4.1.0 (generated from 4.0.0) and `fhir.resources` 6.5.0 (codes, targets), and
    /// https://hl7.org/fhir/R4/valueset-observation-status.html and valueset-diagnostic-report-status.html.
    static let r4 = """
        Address < Element: city?string country?string district?string line*string period?Period postalCode?string
          state?string text?string type?code(postal,physical,both) use?code(home,work,temp,old,billing)
        Age < Quantity:
        AllergyIntolerance < DomainResource: asserter?Reference(Patient,Practitioner,PractitionerRole,RelatedPerson)
          category*code(food,medication,environment,biologic) clinicalStatus?CodeableConcept code?CodeableConcept
          criticality?code(low,high,unable-to-assess) encounter?Reference(Encounter) identifier*Identifier
          lastOccurrence?dateTime note*Annotation onset[x]?Age|dateTime|Period|Range|string patient!Reference(Patient)
          reaction*AllergyIntoleranceReaction recordedDate?dateTime
          recorder?Reference(Patient,Practitioner,PractitionerRole,RelatedPerson) type?code(allergy,intolerance)
          verificationStatus?CodeableConcept
        AllergyIntoleranceReaction < BackboneElement: description?string exposureRoute?CodeableConcept
          manifestation+CodeableConcept note*Annotation onset?dateTime severity?code(mild,moderate,severe)
          substance?CodeableConcept
        Annotation < Element: author[x]?Reference(Organization,Patient,Practitioner,RelatedPerson)|string
          text!markdown time?dateTime
        Attachment < Element: contentType?code creation?dateTime data?base64Binary hash?base64Binary language?code
          size?unsignedInt title?string url?url
        BackboneElement < Element: modifierExtension*Extension
        CodeableConcept < Element: coding*Coding text?string
        Coding < Element: code?code display?string system?uri userSelected?boolean version?string
        Condition < DomainResource: abatement[x]?Age|dateTime|Period|Range|string
          asserter?Reference(Patient,Practitioner,PractitionerRole,RelatedPerson) bodySite*CodeableConcept
          category*CodeableConcept clinicalStatus?CodeableConcept code?CodeableConcept encounter?Reference(Encounter)
          evidence*ConditionEvidence identifier*Identifier note*Annotation onset[x]?Age|dateTime|Period|Range|string
          recordedDate?dateTime recorder?Reference(Patient,Practitioner,PractitionerRole,RelatedPerson)
          severity?CodeableConcept stage*ConditionStage subject!Reference(Group,Patient)
          verificationStatus?CodeableConcept
        ConditionEvidence < BackboneElement: code*CodeableConcept detail*Reference
        ConditionStage < BackboneElement: assessment*Reference(ClinicalImpression,DiagnosticReport,Observation)
          summary?CodeableConcept type?CodeableConcept
        ContactDetail < Element: name?string telecom*ContactPoint
        ContactPoint < Element: period?Period rank?positiveInt system?code(phone,fax,email,pager,url,sms,other)
          use?code(home,work,temp,old,mobile) value?string
        Contributor < Element: contact*ContactDetail name!string type!code(author,editor,reviewer,endorser)
        Count < Quantity:
        Coverage < DomainResource: beneficiary!Reference(Patient) class*CoverageClass contract*Reference(Contract)
          costToBeneficiary*CoverageCostToBeneficiary dependent?string identifier*Identifier network?string
          order?positiveInt payor+Reference(Organization,Patient,RelatedPerson) period?Period
          policyHolder?Reference(Organization,Patient,RelatedPerson) relationship?CodeableConcept
          status!code(active,cancelled,draft,entered-in-error) subrogation?boolean
          subscriber?Reference(Patient,RelatedPerson) subscriberId?string type?CodeableConcept
        CoverageClass < BackboneElement: name?string type!CodeableConcept value!string
        CoverageCostToBeneficiary < BackboneElement: exception*CoverageCostToBeneficiaryException type?CodeableConcept
          value[x]!Money|Quantity
        CoverageCostToBeneficiaryException < BackboneElement: period?Period type!CodeableConcept
        DataRequirement < Element: codeFilter*DataRequirementCodeFilter dateFilter*DataRequirementDateFilter
          limit?positiveInt mustSupport*string profile*canonical sort*DataRequirementSort
          subject[x]?CodeableConcept|Reference(Group) type!code
        DataRequirementCodeFilter < Element: code*Coding path?string searchParam?string valueSet?canonical
        DataRequirementDateFilter < Element: path?string searchParam?string value[x]?dateTime|Duration|Period
        DataRequirementSort < Element: direction!code(ascending,descending) path!string
        DiagnosticReport < DomainResource:
          basedOn*Reference(CarePlan,ImmunizationRecommendation,MedicationRequest,NutritionOrder,ServiceRequest)
          category*CodeableConcept code!CodeableConcept conclusion?string conclusionCode*CodeableConcept
          effective[x]?dateTime| Period encounter?Reference(Encounter) identifier*Identifier
          imagingStudy*Reference(ImagingStudy) issued?instant media*DiagnosticReportMedia
          performer*Reference(CareTeam,Organization,Practitioner,PractitionerRole) presentedForm*Attachment
          result*Reference(Observation)
          resultsInterpreter*Reference(CareTeam,Organization,Practitioner,PractitionerRole) specimen*Reference(Specimen)
          status!code(registered,partial,preliminary,final,amended,corrected,appended,cancelled,entered-in-error,unknown)
          subject?Reference(Device,Group,Location,Medication,Organization,Patient,Practitioner,Procedure,Substance)
        DiagnosticReportMedia < BackboneElement: comment?string link!Reference(Media)
        Distance < Quantity:
        DocumentReference < DomainResource: authenticator?Reference(Organization,Practitioner,PractitionerRole)
          author*Reference(Device,Organization,Patient,Practitioner,PractitionerRole,RelatedPerson)
          category*CodeableConcept content+DocumentReferenceContent context?DocumentReferenceContext
          custodian?Reference(Organization) date?instant description?string
          docStatus?code(preliminary,final,amended,entered-in-error) identifier*Identifier masterIdentifier?Identifier
          relatesTo*DocumentReferenceRelatesTo securityLabel*CodeableConcept
          status!code(current,superseded,entered-in-error) subject?Reference(Device,Group,Patient,Practitioner)
          type?CodeableConcept
        DocumentReferenceContent < BackboneElement: attachment!Attachment format?Coding
        DocumentReferenceContext < BackboneElement: encounter*Reference(Encounter,EpisodeOfCare) event*CodeableConcept
          facilityType?CodeableConcept period?Period practiceSetting?CodeableConcept related*Reference
          sourcePatientInfo?Reference(Patient)
        DocumentReferenceRelatesTo < BackboneElement: code!code(replaces,transforms,signs,appends)
          target!Reference(DocumentReference)
        DomainResource < Resource: contained*Resource extension*Extension modifierExtension*Extension text?Narrative
        Dosage < BackboneElement: additionalInstruction*CodeableConcept asNeeded[x]?boolean|CodeableConcept
          doseAndRate*DosageDoseAndRate maxDosePerAdministration?Quantity maxDosePerLifetime?Quantity
          maxDosePerPeriod?Ratio method?CodeableConcept patientInstruction?string route?CodeableConcept sequence?integer
          site?CodeableConcept text?string timing?Timing
        DosageDoseAndRate < Element: dose[x]?Quantity|Range rate[x]?Quantity|Range|Ratio type?CodeableConcept
        Duration < Quantity:
        Element < -: extension*Extension id?string
        Expression < Element: description?string expression?string language!code name?id reference?uri
        Extension < Element: url!uri value[x]?Address| Age| Annotation| Attachment| base64Binary| boolean| canonical|
          code| CodeableConcept| Coding| ContactDetail| ContactPoint| Contributor| Count| DataRequirement| date|
          dateTime| decimal| Distance| Dosage| Duration| Expression| HumanName| id| Identifier| instant| integer|
          markdown| Money| oid| ParameterDefinition| Period| positiveInt| Quantity| Range| Ratio| Reference|
          RelatedArtifact| SampledData| Signature| string| time| Timing| TriggerDefinition| unsignedInt| uri| url|
          UsageContext| uuid
        HumanName < Element: family?string given*string period?Period prefix*string suffix*string text?string
          use?code(usual,official,temp,nickname,anonymous,old,maiden)
        Identifier < Element: assigner?Reference(Organization) period?Period system?uri type?CodeableConcept
          use?code(usual,official,temp,secondary,old) value?string
        Immunization < DomainResource: doseQuantity?Quantity education*ImmunizationEducation
          encounter?Reference(Encounter) expirationDate?date fundingSource?CodeableConcept identifier*Identifier
          isSubpotent?boolean location?Reference(Location) lotNumber?string manufacturer?Reference(Organization)
          note*Annotation occurrence[x]!dateTime|string patient!Reference(Patient) performer*ImmunizationPerformer
          primarySource?boolean programEligibility*CodeableConcept protocolApplied*ImmunizationProtocolApplied
          reaction*ImmunizationReaction reasonCode*CodeableConcept
          reasonReference*Reference(Condition,DiagnosticReport,Observation) recorded?dateTime
          reportOrigin?CodeableConcept route?CodeableConcept site?CodeableConcept
          status!code(completed,entered-in-error,not-done) statusReason?CodeableConcept subpotentReason*CodeableConcept
          vaccineCode!CodeableConcept
        ImmunizationEducation < BackboneElement: documentType?string presentationDate?dateTime
          publicationDate?dateTime reference?uri
        ImmunizationPerformer < BackboneElement: actor!Reference(Organization,Practitioner,PractitionerRole)
          function?CodeableConcept
        ImmunizationProtocolApplied < BackboneElement: authority?Reference(Organization)
          doseNumber[x]!positiveInt|string series?string seriesDoses[x]?positiveInt|string targetDisease*CodeableConcept
        ImmunizationReaction < BackboneElement: date?dateTime detail?Reference(Observation) reported?boolean
        MedicationDispense < DomainResource: authorizingPrescription*Reference(MedicationRequest)
          category?CodeableConcept context?Reference(Encounter,EpisodeOfCare) daysSupply?Quantity
          destination?Reference(Location) detectedIssue*Reference(DetectedIssue) dosageInstruction*Dosage
          eventHistory*Reference(Provenance) identifier*Identifier location?Reference(Location)
          medication[x]!CodeableConcept| Reference(Medication) note*Annotation partOf*Reference(Procedure)
          performer*MedicationDispensePerformer quantity?Quantity receiver*Reference(Patient,Practitioner)
          status!code(preparation,in-progress,cancelled,on-hold,completed,entered-in-error,stopped,declined,unknown)
          statusReason[x]?CodeableConcept| Reference(DetectedIssue) subject?Reference(Group,Patient)
          substitution?MedicationDispenseSubstitution supportingInformation*Reference type?CodeableConcept
          whenHandedOver?dateTime whenPrepared?dateTime
        MedicationDispensePerformer < BackboneElement:
          actor!Reference(Device,Organization,Patient,Practitioner,PractitionerRole,RelatedPerson)
          function?CodeableConcept
        MedicationDispenseSubstitution < BackboneElement: reason*CodeableConcept
          responsibleParty*Reference(Practitioner,PractitionerRole) type?CodeableConcept wasSubstituted!boolean
        MedicationRequest < DomainResource: authoredOn?dateTime
          basedOn*Reference(CarePlan,ImmunizationRecommendation,MedicationRequest,ServiceRequest)
          category*CodeableConcept courseOfTherapyType?CodeableConcept detectedIssue*Reference(DetectedIssue)
          dispenseRequest?MedicationRequestDispenseRequest doNotPerform?boolean dosageInstruction*Dosage
          encounter?Reference(Encounter) eventHistory*Reference(Provenance) groupIdentifier?Identifier
          identifier*Identifier instantiatesCanonical*canonical instantiatesUri*uri
          insurance*Reference(ClaimResponse,Coverage)
          intent!code(proposal,plan,order,original-order,reflex-order,filler-order,instance-order,option)
          medication[x]!CodeableConcept| Reference(Medication) note*Annotation
          performer?Reference(CareTeam,Device,Organization,Patient,Practitioner,PractitionerRole,RelatedPerson)
          performerType?CodeableConcept priorPrescription?Reference(MedicationRequest)
          priority?code(routine,urgent,asap,stat) reasonCode*CodeableConcept
          reasonReference*Reference(Condition,Observation) recorder?Reference(Practitioner,PractitionerRole)
          reported[x]?boolean| Reference(Organization,Patient,Practitioner,PractitionerRole,RelatedPerson)
          requester?Reference(Device,Organization,Patient,Practitioner,PractitionerRole,RelatedPerson)
          status!code(active,on-hold,cancelled,completed,entered-in-error,stopped,draft,unknown)
          statusReason?CodeableConcept subject!Reference(Group,Patient) substitution?MedicationRequestSubstitution
          supportingInformation*Reference
        MedicationRequestDispenseRequest < BackboneElement: dispenseInterval?Duration expectedSupplyDuration?Duration
          initialFill?MedicationRequestDispenseRequestInitialFill numberOfRepeatsAllowed?unsignedInt
          performer?Reference(Organization) quantity?Quantity validityPeriod?Period
        MedicationRequestDispenseRequestInitialFill < BackboneElement: duration?Duration quantity?Quantity
        MedicationRequestSubstitution < BackboneElement: allowed[x]!boolean|CodeableConcept reason?CodeableConcept
        MedicationStatement < DomainResource: basedOn*Reference(CarePlan,MedicationRequest,ServiceRequest)
          category?CodeableConcept context?Reference(Encounter,EpisodeOfCare) dateAsserted?dateTime
          derivedFrom*Reference dosage*Dosage effective[x]?dateTime| Period identifier*Identifier
          informationSource?Reference(Organization,Patient,Practitioner,PractitionerRole,RelatedPerson)
          medication[x]!CodeableConcept| Reference(Medication) note*Annotation
          partOf*Reference(MedicationAdministration,MedicationDispense,MedicationStatement,Observation,Procedure)
          reasonCode*CodeableConcept reasonReference*Reference(Condition,DiagnosticReport,Observation)
          status!code(active,completed,entered-in-error,intended,stopped,on-hold,unknown,not-taken)
          statusReason*CodeableConcept subject!Reference(Group,Patient)
        Meta < Element: lastUpdated?instant profile*canonical security*Coding source?uri tag*Coding versionId?id
        Money < Element: currency?code value?decimal
        Narrative < Element: div!xhtml status!code(generated,extensions,additional,empty)
        Observation < DomainResource:
          basedOn*Reference(CarePlan,DeviceRequest,ImmunizationRecommendation,MedicationRequest,NutritionOrder,ServiceRequest)
          bodySite?CodeableConcept category*CodeableConcept code!CodeableConcept component*ObservationComponent
          dataAbsentReason?CodeableConcept
          derivedFrom*Reference(DocumentReference,ImagingStudy,Media,MolecularSequence,Observation,QuestionnaireResponse)
          device?Reference(Device,DeviceMetric) effective[x]?dateTime| instant| Period| Timing
          encounter?Reference(Encounter) focus*Reference
          hasMember*Reference(MolecularSequence,Observation,QuestionnaireResponse) identifier*Identifier
          interpretation*CodeableConcept issued?instant method?CodeableConcept note*Annotation
          partOf*Reference(ImagingStudy,Immunization,MedicationAdministration,MedicationDispense,MedicationStatement,Procedure)
          performer*Reference(CareTeam,Organization,Patient,Practitioner,PractitionerRole,RelatedPerson)
          referenceRange*ObservationReferenceRange specimen?Reference(Specimen)
          status!code(registered,preliminary,final,amended,corrected,cancelled,entered-in-error,unknown)
          subject?Reference(Device,Group,Location,Medication,Organization,Patient,Practitioner,Procedure,Substance)
          value[x]?boolean| CodeableConcept| dateTime| integer| Period| Quantity| Range| Ratio| SampledData| string|
          time
        ObservationComponent < BackboneElement: code!CodeableConcept dataAbsentReason?CodeableConcept
          interpretation*CodeableConcept referenceRange*ObservationReferenceRange value[x]?boolean| CodeableConcept|
          dateTime| integer| Period| Quantity| Range| Ratio| SampledData| string| time
        ObservationReferenceRange < BackboneElement: age?Range appliesTo*CodeableConcept high?Quantity low?Quantity
          text?string type?CodeableConcept
        ParameterDefinition < Element: documentation?string max?string min?integer name?code profile?canonical
          type!code use!code(in,out)
        Period < Element: end?dateTime start?dateTime
        Procedure < DomainResource: asserter?Reference(Patient,Practitioner,PractitionerRole,RelatedPerson)
          basedOn*Reference(CarePlan,ServiceRequest) bodySite*CodeableConcept category?CodeableConcept
          code?CodeableConcept complication*CodeableConcept complicationDetail*Reference(Condition)
          encounter?Reference(Encounter) focalDevice*ProcedureFocalDevice followUp*CodeableConcept identifier*Identifier
          instantiatesCanonical*canonical instantiatesUri*uri location?Reference(Location) note*Annotation
          outcome?CodeableConcept partOf*Reference(MedicationAdministration,Observation,Procedure)
          performed[x]?Age|dateTime|Period|Range|string performer*ProcedurePerformer reasonCode*CodeableConcept
          reasonReference*Reference(Condition,DiagnosticReport,DocumentReference,Observation,Procedure)
          recorder?Reference(Patient,Practitioner,PractitionerRole,RelatedPerson)
          report*Reference(Composition,DiagnosticReport,DocumentReference)
          status!code(preparation,in-progress,not-done,on-hold,stopped,completed,entered-in-error,unknown)
          statusReason?CodeableConcept subject!Reference(Group,Patient) usedCode*CodeableConcept
          usedReference*Reference(Device,Medication,Substance)
        ProcedureFocalDevice < BackboneElement: action?CodeableConcept manipulated!Reference(Device)
        ProcedurePerformer < BackboneElement:
          actor!Reference(Device,Organization,Patient,Practitioner,PractitionerRole,RelatedPerson)
          function?CodeableConcept onBehalfOf?Reference(Organization)
        Quantity < Element: code?code comparator?code(<,<=,>=,>) system?uri unit?string value?decimal
        Range < Element: high?Quantity low?Quantity
        Ratio < Element: denominator?Quantity numerator?Quantity
        Reference < Element: display?string identifier?Identifier reference?string type?uri
        RelatedArtifact < Element: citation?markdown display?string document?Attachment label?string
          resource?canonical
          type!code(documentation,justification,citation,predecessor,successor,derived-from,depends-on,composed-of)
          url?url
        Resource < -: id?id implicitRules?uri language?code meta?Meta
        SampledData < Element: data?string dimensions!positiveInt factor?decimal lowerLimit?decimal origin!Quantity
          period!decimal upperLimit?decimal
        Signature < Element: data?base64Binary
          onBehalfOf?Reference(Device,Organization,Patient,Practitioner,PractitionerRole,RelatedPerson) sigFormat?code
          targetFormat?code type+Coding when!instant
          who!Reference(Device,Organization,Patient,Practitioner,PractitionerRole,RelatedPerson)
        Timing < BackboneElement: code?CodeableConcept event*dateTime repeat?TimingRepeat
        TimingRepeat < Element: bounds[x]?Duration|Period|Range count?positiveInt countMax?positiveInt
          dayOfWeek*code(mon,tue,wed,thu,fri,sat,sun) duration?decimal durationMax?decimal
          durationUnit?code(s,min,h,d,wk,mo,a) frequency?positiveInt frequencyMax?positiveInt offset?unsignedInt
          period?decimal periodMax?decimal periodUnit?code(s,min,h,d,wk,mo,a) timeOfDay*time when*code
        TriggerDefinition < Element: condition?Expression data*DataRequirement name?string timing[x]?date| dateTime|
          Reference(Schedule)| Timing
          type!code(named-event,periodic,data-changed,data-added,data-modified,data-removed,data-accessed,data-access-ended)
        UsageContext < Element: code!Coding value[x]!CodeableConcept| Quantity| Range|
          Reference(Group,HealthcareService,InsurancePlan,Location,Organization,PlanDefinition,ResearchStudy)
        """
}
