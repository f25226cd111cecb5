extension StructureTable {
    /// The types of DSTU2 that clinical records use.
    ///
    /// Source: HL7 FHIR 1.0.2: StructureDefinitions with their elements, cardinalities, types, required codes and the types that
    /// references refer to, from the Python packages `fhirclient` 1.0.6 (generated from 1.0.2.7202) and `fhir.resources` 6.5.0 (DSTU2),
    /// and https://hl7.org/fhir/DSTU2/valueset-observation-status.html. `Condition.clinicalStatus` has no required codes in these
    /// sources.
    static let dstu2 = """
        Address < Element: city?string country?string district?string line*string period?Period postalCode?string
          state?string text?string type?code(postal,physical,both) use?code(home,work,temp,old)
        AllergyIntolerance < DomainResource: category?code(food,medication,environment,other)
          criticality?code(CRITL,CRITH,CRITU) identifier*Identifier lastOccurence?dateTime note?Annotation
          onset?dateTime patient!Reference(Patient) reaction*AllergyIntoleranceReaction recordedDate?dateTime
          recorder?Reference(Patient,Practitioner) reporter?Reference(Patient,Practitioner,RelatedPerson)
          status?code(active,unconfirmed,confirmed,inactive,resolved,refuted,entered-in-error) substance!CodeableConcept
          type?code(allergy,intolerance)
        AllergyIntoleranceReaction < BackboneElement: certainty?code(unlikely,likely,confirmed) description?string
          exposureRoute?CodeableConcept manifestation+CodeableConcept note?Annotation onset?dateTime
          severity?code(mild,moderate,severe) substance?CodeableConcept
        Annotation < Element: author[x]?Reference(Patient,Practitioner,RelatedPerson)|string text!string time?dateTime
        Attachment < Element: contentType?code creation?dateTime data?base64Binary hash?base64Binary language?code
          size?unsignedInt title?string url?uri
        BackboneElement < Element: modifierExtension*Extension
        CodeableConcept < Element: coding*Coding text?string
        Coding < Element: code?code display?string system?uri userSelected?boolean version?string
        Condition < DomainResource: abatement[x]?boolean|dateTime|Period|Quantity|Range|string
          asserter?Reference(Patient,Practitioner) bodySite*CodeableConcept category?CodeableConcept clinicalStatus?code
          code!CodeableConcept dateRecorded?date encounter?Reference(Encounter) evidence*ConditionEvidence
          identifier*Identifier notes?string onset[x]?dateTime|Period|Quantity|Range|string patient!Reference(Patient)
          severity?CodeableConcept stage?ConditionStage
          verificationStatus!code(provisional,differential,confirmed,refuted,entered-in-error,unknown)
        ConditionEvidence < BackboneElement: code?CodeableConcept detail*Reference
        ConditionStage < BackboneElement: assessment*Reference(ClinicalImpression,DiagnosticReport,Observation)
          summary?CodeableConcept
        ContactPoint < Element: period?Period rank?positiveInt system?code(phone,fax,email,pager,other)
          use?code(home,work,temp,old,mobile) value?string
        Coverage < DomainResource: bin?Identifier contract*Reference(Contract) dependent?positiveInt group?string
          identifier*Identifier issuer?Reference(Organization) network?Identifier period?Period plan?string
          sequence?positiveInt subPlan?string subscriber?Reference(Patient) subscriberId?Identifier type?Coding
        DiagnosticReport < DomainResource: category?CodeableConcept code!CodeableConcept
          codedDiagnosis*CodeableConcept conclusion?string effective[x]!dateTime|Period encounter?Reference(Encounter)
          identifier*Identifier image*DiagnosticReportImage imagingStudy*Reference(ImagingObjectSelection,ImagingStudy)
          issued!instant performer!Reference(Organization,Practitioner) presentedForm*Attachment
          request*Reference(DiagnosticOrder,ProcedureRequest,ReferralRequest) result*Reference(Observation)
          specimen*Reference(Specimen)
          status!code(registered,partial,final,corrected,appended,cancelled,entered-in-error)
          subject!Reference(Device,Group,Location,Patient)
        DiagnosticReportImage < BackboneElement: comment?string link!Reference(Media)
        DocumentReference < DomainResource: authenticator?Reference(Organization,Practitioner)
          author*Reference(Device,Organization,Patient,Practitioner,RelatedPerson) class?CodeableConcept
          content+DocumentReferenceContent context?DocumentReferenceContext created?dateTime
          custodian?Reference(Organization) description?string docStatus?CodeableConcept identifier*Identifier
          indexed!instant masterIdentifier?Identifier relatesTo*DocumentReferenceRelatesTo securityLabel*CodeableConcept
          status!code(current,superseded,entered-in-error) subject?Reference(Device,Group,Patient,Practitioner)
          type!CodeableConcept
        DocumentReferenceContent < BackboneElement: attachment!Attachment format*Coding
        DocumentReferenceContext < BackboneElement: encounter?Reference(Encounter) event*CodeableConcept
          facilityType?CodeableConcept period?Period practiceSetting?CodeableConcept
          related*DocumentReferenceContextRelated sourcePatientInfo?Reference(Patient)
        DocumentReferenceContextRelated < BackboneElement: identifier?Identifier ref?Reference
        DocumentReferenceRelatesTo < BackboneElement: code!code(replaces,transforms,signs,appends)
          target!Reference(DocumentReference)
        DomainResource < Resource: contained*Resource extension*Extension modifierExtension*Extension text?Narrative
        Element < -: extension*Extension id?string
        Extension < Element: url!uri value[x]?Address| Annotation| Attachment| base64Binary| boolean| code|
          CodeableConcept| Coding| ContactPoint| date| dateTime| decimal| HumanName| id| Identifier| instant| integer|
          markdown| Meta| oid| Period| positiveInt| Quantity| Range| Ratio| Reference| SampledData| Signature| string|
          time| Timing| unsignedInt| uri
        HumanName < Element: family*string given*string period?Period prefix*string suffix*string text?string
          use?code(usual,official,temp,nickname,anonymous,old,maiden)
        Identifier < Element: assigner?Reference(Organization) period?Period system?uri type?CodeableConcept
          use?code(usual,official,temp,secondary) value?string
        Immunization < DomainResource: date?dateTime doseQuantity?Quantity encounter?Reference(Encounter)
          expirationDate?date explanation?ImmunizationExplanation identifier*Identifier location?Reference(Location)
          lotNumber?string manufacturer?Reference(Organization) note*Annotation patient!Reference(Patient)
          performer?Reference(Practitioner) reaction*ImmunizationReaction reported!boolean
          requester?Reference(Practitioner) route?CodeableConcept site?CodeableConcept
          status!code(in-progress,on-hold,completed,entered-in-error,stopped)
          vaccinationProtocol*ImmunizationVaccinationProtocol vaccineCode!CodeableConcept wasNotGiven!boolean
        ImmunizationExplanation < BackboneElement: reason*CodeableConcept reasonNotGiven*CodeableConcept
        ImmunizationReaction < BackboneElement: date?dateTime detail?Reference(Observation) reported?boolean
        ImmunizationVaccinationProtocol < BackboneElement: authority?Reference(Organization) description?string
          doseSequence!positiveInt doseStatus!CodeableConcept doseStatusReason?CodeableConcept series?string
          seriesDoses?positiveInt targetDisease+CodeableConcept
        MedicationDispense < DomainResource: authorizingPrescription*Reference(MedicationOrder) daysSupply?Quantity
          destination?Reference(Location) dispenser?Reference(Practitioner)
          dosageInstruction*MedicationDispenseDosageInstruction identifier?Identifier
          medication[x]!CodeableConcept|Reference(Medication) note?string patient?Reference(Patient) quantity?Quantity
          receiver*Reference(Patient,Practitioner) status?code(in-progress,on-hold,completed,entered-in-error,stopped)
          substitution?MedicationDispenseSubstitution type?CodeableConcept whenHandedOver?dateTime whenPrepared?dateTime
        MedicationDispenseDosageInstruction < BackboneElement: additionalInstructions?CodeableConcept
          asNeeded[x]?boolean|CodeableConcept dose[x]?Quantity|Range maxDosePerPeriod?Ratio method?CodeableConcept
          rate[x]?Range|Ratio route?CodeableConcept site[x]?CodeableConcept|Reference(BodySite) text?string
          timing?Timing
        MedicationDispenseSubstitution < BackboneElement: reason*CodeableConcept
          responsibleParty*Reference(Practitioner) type!CodeableConcept
        MedicationOrder < DomainResource: dateEnded?dateTime dateWritten?dateTime
          dispenseRequest?MedicationOrderDispenseRequest dosageInstruction*MedicationOrderDosageInstruction
          encounter?Reference(Encounter) identifier*Identifier medication[x]!CodeableConcept|Reference(Medication)
          note?string patient?Reference(Patient) prescriber?Reference(Practitioner)
          priorPrescription?Reference(MedicationOrder) reason[x]?CodeableConcept|Reference(Condition)
          reasonEnded?CodeableConcept status?code(active,on-hold,completed,entered-in-error,stopped,draft)
          substitution?MedicationOrderSubstitution
        MedicationOrderDispenseRequest < BackboneElement: expectedSupplyDuration?Quantity
          medication[x]?CodeableConcept|Reference(Medication) numberOfRepeatsAllowed?positiveInt quantity?Quantity
          validityPeriod?Period
        MedicationOrderDosageInstruction < BackboneElement: additionalInstructions?CodeableConcept
          asNeeded[x]?boolean|CodeableConcept dose[x]?Quantity|Range maxDosePerPeriod?Ratio method?CodeableConcept
          rate[x]?Range|Ratio route?CodeableConcept site[x]?CodeableConcept|Reference(BodySite) text?string
          timing?Timing
        MedicationOrderSubstitution < BackboneElement: reason?CodeableConcept type!CodeableConcept
        MedicationStatement < DomainResource: dateAsserted?dateTime dosage*MedicationStatementDosage
          effective[x]?dateTime|Period identifier*Identifier
          informationSource?Reference(Patient,Practitioner,RelatedPerson)
          medication[x]!CodeableConcept|Reference(Medication) note?string patient!Reference(Patient)
          reasonForUse[x]?CodeableConcept|Reference(Condition) reasonNotTaken*CodeableConcept
          status!code(active,completed,entered-in-error,intended) supportingInformation*Reference wasNotTaken?boolean
        MedicationStatementDosage < BackboneElement: asNeeded[x]?boolean|CodeableConcept maxDosePerPeriod?Ratio
          method?CodeableConcept quantity[x]?Quantity|Range rate[x]?Range|Ratio route?CodeableConcept
          site[x]?CodeableConcept|Reference(BodySite) text?string timing?Timing
        Meta < Element: lastUpdated?instant profile*uri security*Coding tag*Coding versionId?id
        Narrative < Element: div!xhtml status!code(generated,extensions,additional,empty)
        Observation < DomainResource: bodySite?CodeableConcept category?CodeableConcept code!CodeableConcept
          comments?string component*ObservationComponent dataAbsentReason?CodeableConcept
          device?Reference(Device,DeviceMetric) effective[x]?dateTime|Period encounter?Reference(Encounter)
          identifier*Identifier interpretation?CodeableConcept issued?instant method?CodeableConcept
          performer*Reference(Organization,Patient,Practitioner,RelatedPerson) referenceRange*ObservationReferenceRange
          related*ObservationRelated specimen?Reference(Specimen)
          status!code(registered,preliminary,final,amended,cancelled,entered-in-error,unknown)
          subject?Reference(Device,Group,Location,Patient)
          value[x]?Attachment|CodeableConcept|dateTime|Period|Quantity|Range|Ratio|SampledData|string|time
        ObservationComponent < BackboneElement: code!CodeableConcept dataAbsentReason?CodeableConcept
          referenceRange*ObservationReferenceRange
          value[x]?Attachment|CodeableConcept|dateTime|Period|Quantity|Range|Ratio|SampledData|string|time
        ObservationReferenceRange < BackboneElement: age?Range high?Quantity low?Quantity meaning?CodeableConcept
          text?string
        ObservationRelated < BackboneElement: target!Reference(Observation,QuestionnaireResponse)
          type?code(has-member,derived-from,sequel-to,replaces,qualified-by,interfered-by)
        Period < Element: end?dateTime start?dateTime
        Procedure < DomainResource: bodySite*CodeableConcept category?CodeableConcept code!CodeableConcept
          complication*CodeableConcept encounter?Reference(Encounter) focalDevice*ProcedureFocalDevice
          followUp*CodeableConcept identifier*Identifier location?Reference(Location) notPerformed?boolean
          notes*Annotation outcome?CodeableConcept performed[x]?dateTime|Period performer*ProcedurePerformer
          reason[x]?CodeableConcept|Reference(Condition) reasonNotPerformed*CodeableConcept
          report*Reference(DiagnosticReport)
          request?Reference(CarePlan,DiagnosticOrder,ProcedureRequest,ReferralRequest)
          status!code(in-progress,aborted,completed,entered-in-error) subject!Reference(Group,Patient)
          used*Reference(Device,Medication,Substance)
        ProcedureFocalDevice < BackboneElement: action?CodeableConcept manipulated!Reference(Device)
        ProcedurePerformer < BackboneElement: actor?Reference(Organization,Patient,Practitioner,RelatedPerson)
          role?CodeableConcept
        Quantity < Element: code?code comparator?code(<,<=,>=,>) system?uri unit?string value?decimal
        Range < Element: high?Quantity low?Quantity
        Ratio < Element: denominator?Quantity numerator?Quantity
        Reference < Element: display?string reference?string
        Resource < -: id?id implicitRules?uri language?code meta?Meta
        SampledData < Element: data!string dimensions!positiveInt factor?decimal lowerLimit?decimal origin!Quantity
          period!decimal upperLimit?decimal
        Signature < Element: blob!base64Binary contentType!code type+Coding when!instant
          who[x]!Reference(Device,Organization,Patient,Practitioner,RelatedPerson)|uri
        Timing < Element: code?CodeableConcept event*dateTime repeat?TimingRepeat
        TimingRepeat < Element: bounds[x]?Period|Quantity|Range count?integer duration?decimal durationMax?decimal
          durationUnits?code(s,min,h,d,wk,mo,a) frequency?integer frequencyMax?integer period?decimal periodMax?decimal
          periodUnits?code(s,min,h,d,wk,mo,a) when?code
        """
}
