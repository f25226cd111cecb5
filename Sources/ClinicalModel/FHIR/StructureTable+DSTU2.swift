extension StructureTable {
    /// The types of DSTU2 that clinical records are made of.
    ///
    /// Source: HL7 FHIR 1.0.2's StructureDefinitions, elements, cardinalities, types and required codes as the Python packages
    /// `fhirclient` 1.0.6 (generated from 1.0.2.7202) and `fhir.resources` 6.5.0 (DSTU2) tell them;
    /// https://hl7.org/fhir/DSTU2/valueset-observation-status.html. `Condition.clinicalStatus` has no required codes there.
    static let dstu2 = """
        Address < Element: city?string country?string district?string line*string period?Period postalCode?string
          state?string text?string type?code(postal,physical,both) use?code(home,work,temp,old)
        AllergyIntolerance < DomainResource: category?code(food,medication,environment,other)
          criticality?code(CRITL,CRITH,CRITU) identifier*Identifier lastOccurence?dateTime note?Annotation
          onset?dateTime patient!Reference reaction*AllergyIntoleranceReaction recordedDate?dateTime recorder?Reference
          reporter?Reference status?code(active,unconfirmed,confirmed,inactive,resolved,refuted,entered-in-error)
          substance!CodeableConcept type?code(allergy,intolerance)
        AllergyIntoleranceReaction < BackboneElement: certainty?code(unlikely,likely,confirmed) description?string
          exposureRoute?CodeableConcept manifestation+CodeableConcept note?Annotation onset?dateTime
          severity?code(mild,moderate,severe) substance?CodeableConcept
        Annotation < Element: author[x]?Reference|string text!string time?dateTime
        Attachment < Element: contentType?code creation?dateTime data?base64Binary hash?base64Binary language?code
          size?unsignedInt title?string url?uri
        BackboneElement < Element: modifierExtension*Extension
        CodeableConcept < Element: coding*Coding text?string
        Coding < Element: code?code display?string system?uri userSelected?boolean version?string
        Condition < DomainResource: abatement[x]?boolean|dateTime|Period|Quantity|Range|string asserter?Reference
          bodySite*CodeableConcept category?CodeableConcept clinicalStatus?code code!CodeableConcept dateRecorded?date
          encounter?Reference evidence*ConditionEvidence identifier*Identifier notes?string
          onset[x]?dateTime|Period|Quantity|Range|string patient!Reference severity?CodeableConcept stage?ConditionStage
          verificationStatus!code(provisional,differential,confirmed,refuted,entered-in-error,unknown)
        ConditionEvidence < BackboneElement: code?CodeableConcept detail*Reference
        ConditionStage < BackboneElement: assessment*Reference summary?CodeableConcept
        ContactPoint < Element: period?Period rank?positiveInt system?code(phone,fax,email,pager,other)
          use?code(home,work,temp,old,mobile) value?string
        Coverage < DomainResource: bin?Identifier contract*Reference dependent?positiveInt group?string
          identifier*Identifier issuer?Reference network?Identifier period?Period plan?string sequence?positiveInt
          subPlan?string subscriber?Reference subscriberId?Identifier type?Coding
        DiagnosticReport < DomainResource: category?CodeableConcept code!CodeableConcept
          codedDiagnosis*CodeableConcept conclusion?string effective[x]!dateTime|Period encounter?Reference
          identifier*Identifier image*DiagnosticReportImage imagingStudy*Reference issued!instant performer!Reference
          presentedForm*Attachment request*Reference result*Reference specimen*Reference
          status!code(registered,partial,final,corrected,appended,cancelled,entered-in-error) subject!Reference
        DiagnosticReportImage < BackboneElement: comment?string link!Reference
        DocumentReference < DomainResource: authenticator?Reference author*Reference class?CodeableConcept
          content+DocumentReferenceContent context?DocumentReferenceContext created?dateTime custodian?Reference
          description?string docStatus?CodeableConcept identifier*Identifier indexed!instant masterIdentifier?Identifier
          relatesTo*DocumentReferenceRelatesTo securityLabel*CodeableConcept
          status!code(current,superseded,entered-in-error) subject?Reference type!CodeableConcept
        DocumentReferenceContent < BackboneElement: attachment!Attachment format*Coding
        DocumentReferenceContext < BackboneElement: encounter?Reference event*CodeableConcept
          facilityType?CodeableConcept period?Period practiceSetting?CodeableConcept
          related*DocumentReferenceContextRelated sourcePatientInfo?Reference
        DocumentReferenceContextRelated < BackboneElement: identifier?Identifier ref?Reference
        DocumentReferenceRelatesTo < BackboneElement: code!code(replaces,transforms,signs,appends) target!Reference
        DomainResource < Resource: contained*Resource extension*Extension modifierExtension*Extension text?Narrative
        Element < -: extension*Extension id?string
        Extension < Element: url!uri value[x]?Address| Annotation| Attachment| base64Binary| boolean| code|
          CodeableConcept| Coding| ContactPoint| date| dateTime| decimal| HumanName| id| Identifier| instant| integer|
          markdown| Meta| oid| Period| positiveInt| Quantity| Range| Ratio| Reference| SampledData| Signature| string|
          time| Timing| unsignedInt| uri
        HumanName < Element: family*string given*string period?Period prefix*string suffix*string text?string
          use?code(usual,official,temp,nickname,anonymous,old,maiden)
        Identifier < Element: assigner?Reference period?Period system?uri type?CodeableConcept
          use?code(usual,official,temp,secondary) value?string
        Immunization < DomainResource: date?dateTime doseQuantity?Quantity encounter?Reference expirationDate?date
          explanation?ImmunizationExplanation identifier*Identifier location?Reference lotNumber?string
          manufacturer?Reference note*Annotation patient!Reference performer?Reference reaction*ImmunizationReaction
          reported!boolean requester?Reference route?CodeableConcept site?CodeableConcept
          status!code(in-progress,on-hold,completed,entered-in-error,stopped)
          vaccinationProtocol*ImmunizationVaccinationProtocol vaccineCode!CodeableConcept wasNotGiven!boolean
        ImmunizationExplanation < BackboneElement: reason*CodeableConcept reasonNotGiven*CodeableConcept
        ImmunizationReaction < BackboneElement: date?dateTime detail?Reference reported?boolean
        ImmunizationVaccinationProtocol < BackboneElement: authority?Reference description?string
          doseSequence!positiveInt doseStatus!CodeableConcept doseStatusReason?CodeableConcept series?string
          seriesDoses?positiveInt targetDisease+CodeableConcept
        MedicationDispense < DomainResource: authorizingPrescription*Reference daysSupply?Quantity
          destination?Reference dispenser?Reference dosageInstruction*MedicationDispenseDosageInstruction
          identifier?Identifier medication[x]!CodeableConcept|Reference note?string patient?Reference quantity?Quantity
          receiver*Reference status?code(in-progress,on-hold,completed,entered-in-error,stopped)
          substitution?MedicationDispenseSubstitution type?CodeableConcept whenHandedOver?dateTime whenPrepared?dateTime
        MedicationDispenseDosageInstruction < BackboneElement: additionalInstructions?CodeableConcept
          asNeeded[x]?boolean|CodeableConcept dose[x]?Quantity|Range maxDosePerPeriod?Ratio method?CodeableConcept
          rate[x]?Range|Ratio route?CodeableConcept site[x]?CodeableConcept|Reference text?string timing?Timing
        MedicationDispenseSubstitution < BackboneElement: reason*CodeableConcept responsibleParty*Reference
          type!CodeableConcept
        MedicationOrder < DomainResource: dateEnded?dateTime dateWritten?dateTime
          dispenseRequest?MedicationOrderDispenseRequest dosageInstruction*MedicationOrderDosageInstruction
          encounter?Reference identifier*Identifier medication[x]!CodeableConcept|Reference note?string
          patient?Reference prescriber?Reference priorPrescription?Reference reason[x]?CodeableConcept|Reference
          reasonEnded?CodeableConcept status?code(active,on-hold,completed,entered-in-error,stopped,draft)
          substitution?MedicationOrderSubstitution
        MedicationOrderDispenseRequest < BackboneElement: expectedSupplyDuration?Quantity
          medication[x]?CodeableConcept|Reference numberOfRepeatsAllowed?positiveInt quantity?Quantity
          validityPeriod?Period
        MedicationOrderDosageInstruction < BackboneElement: additionalInstructions?CodeableConcept
          asNeeded[x]?boolean|CodeableConcept dose[x]?Quantity|Range maxDosePerPeriod?Ratio method?CodeableConcept
          rate[x]?Range|Ratio route?CodeableConcept site[x]?CodeableConcept|Reference text?string timing?Timing
        MedicationOrderSubstitution < BackboneElement: reason?CodeableConcept type!CodeableConcept
        MedicationStatement < DomainResource: dateAsserted?dateTime dosage*MedicationStatementDosage
          effective[x]?dateTime|Period identifier*Identifier informationSource?Reference
          medication[x]!CodeableConcept|Reference note?string patient!Reference
          reasonForUse[x]?CodeableConcept|Reference reasonNotTaken*CodeableConcept
          status!code(active,completed,entered-in-error,intended) supportingInformation*Reference wasNotTaken?boolean
        MedicationStatementDosage < BackboneElement: asNeeded[x]?boolean|CodeableConcept maxDosePerPeriod?Ratio
          method?CodeableConcept quantity[x]?Quantity|Range rate[x]?Range|Ratio route?CodeableConcept
          site[x]?CodeableConcept|Reference text?string timing?Timing
        Meta < Element: lastUpdated?instant profile*uri security*Coding tag*Coding versionId?id
        Narrative < Element: div!xhtml status!code(generated,extensions,additional,empty)
        Observation < DomainResource: bodySite?CodeableConcept category?CodeableConcept code!CodeableConcept
          comments?string component*ObservationComponent dataAbsentReason?CodeableConcept device?Reference
          effective[x]?dateTime|Period encounter?Reference identifier*Identifier interpretation?CodeableConcept
          issued?instant method?CodeableConcept performer*Reference referenceRange*ObservationReferenceRange
          related*ObservationRelated specimen?Reference
          status!code(registered,preliminary,final,amended,cancelled,entered-in-error,unknown) subject?Reference
          value[x]?Attachment|CodeableConcept|dateTime|Period|Quantity|Range|Ratio|SampledData|string|time
        ObservationComponent < BackboneElement: code!CodeableConcept dataAbsentReason?CodeableConcept
          referenceRange*ObservationReferenceRange
          value[x]?Attachment|CodeableConcept|dateTime|Period|Quantity|Range|Ratio|SampledData|string|time
        ObservationReferenceRange < BackboneElement: age?Range high?Quantity low?Quantity meaning?CodeableConcept
          text?string
        ObservationRelated < BackboneElement: target!Reference
          type?code(has-member,derived-from,sequel-to,replaces,qualified-by,interfered-by)
        Period < Element: end?dateTime start?dateTime
        Procedure < DomainResource: bodySite*CodeableConcept category?CodeableConcept code!CodeableConcept
          complication*CodeableConcept encounter?Reference focalDevice*ProcedureFocalDevice followUp*CodeableConcept
          identifier*Identifier location?Reference notPerformed?boolean notes*Annotation outcome?CodeableConcept
          performed[x]?dateTime|Period performer*ProcedurePerformer reason[x]?CodeableConcept|Reference
          reasonNotPerformed*CodeableConcept report*Reference request?Reference
          status!code(in-progress,aborted,completed,entered-in-error) subject!Reference used*Reference
        ProcedureFocalDevice < BackboneElement: action?CodeableConcept manipulated!Reference
        ProcedurePerformer < BackboneElement: actor?Reference role?CodeableConcept
        Quantity < Element: code?code comparator?code(<,<=,>=,>) system?uri unit?string value?decimal
        Range < Element: high?Quantity low?Quantity
        Ratio < Element: denominator?Quantity numerator?Quantity
        Reference < Element: display?string reference?string
        Resource < -: id?id implicitRules?uri language?code meta?Meta
        SampledData < Element: data!string dimensions!positiveInt factor?decimal lowerLimit?decimal origin!Quantity
          period!decimal upperLimit?decimal
        Signature < Element: blob!base64Binary contentType!code type+Coding when!instant who[x]!Reference|uri
        Timing < Element: code?CodeableConcept event*dateTime repeat?TimingRepeat
        TimingRepeat < Element: bounds[x]?Period|Quantity|Range count?integer duration?decimal durationMax?decimal
          durationUnits?code(s,min,h,d,wk,mo,a) frequency?integer frequencyMax?integer period?decimal periodMax?decimal
          periodUnits?code(s,min,h,d,wk,mo,a) when?code
        """
}
