extension StructureTable {
    /// The types of R4 that clinical records are made of.
    ///
    /// Source: HL7 FHIR 4.0's StructureDefinitions, elements, cardinalities, types and required codes as the Python packages
    /// `fhirclient` 4.1.0 (generated from 4.0.0) and `fhir.resources` 6.5.0 (codes) tell them;
    /// https://hl7.org/fhir/R4/valueset-observation-status.html and valueset-diagnostic-report-status.html.
    static let r4 = """
        Address < Element: city?string country?string district?string line*string period?Period postalCode?string
          state?string text?string type?code(postal,physical,both) use?code(home,work,temp,old,billing)
        Age < Quantity:
        AllergyIntolerance < DomainResource: asserter?Reference category*code(food,medication,environment,biologic)
          clinicalStatus?CodeableConcept code?CodeableConcept criticality?code(low,high,unable-to-assess)
          encounter?Reference identifier*Identifier lastOccurrence?dateTime note*Annotation
          onset[x]?Age|dateTime|Period|Range|string patient!Reference reaction*AllergyIntoleranceReaction
          recordedDate?dateTime recorder?Reference type?code(allergy,intolerance) verificationStatus?CodeableConcept
        AllergyIntoleranceReaction < BackboneElement: description?string exposureRoute?CodeableConcept
          manifestation+CodeableConcept note*Annotation onset?dateTime severity?code(mild,moderate,severe)
          substance?CodeableConcept
        Annotation < Element: author[x]?Reference|string text!markdown time?dateTime
        Attachment < Element: contentType?code creation?dateTime data?base64Binary hash?base64Binary language?code
          size?unsignedInt title?string url?url
        BackboneElement < Element: modifierExtension*Extension
        CodeableConcept < Element: coding*Coding text?string
        Coding < Element: code?code display?string system?uri userSelected?boolean version?string
        Condition < DomainResource: abatement[x]?Age|dateTime|Period|Range|string asserter?Reference
          bodySite*CodeableConcept category*CodeableConcept clinicalStatus?CodeableConcept code?CodeableConcept
          encounter?Reference evidence*ConditionEvidence identifier*Identifier note*Annotation
          onset[x]?Age|dateTime|Period|Range|string recordedDate?dateTime recorder?Reference severity?CodeableConcept
          stage*ConditionStage subject!Reference verificationStatus?CodeableConcept
        ConditionEvidence < BackboneElement: code*CodeableConcept detail*Reference
        ConditionStage < BackboneElement: assessment*Reference summary?CodeableConcept type?CodeableConcept
        ContactDetail < Element: name?string telecom*ContactPoint
        ContactPoint < Element: period?Period rank?positiveInt system?code(phone,fax,email,pager,url,sms,other)
          use?code(home,work,temp,old,mobile) value?string
        Contributor < Element: contact*ContactDetail name!string type!code(author,editor,reviewer,endorser)
        Count < Quantity:
        Coverage < DomainResource: beneficiary!Reference class*CoverageClass contract*Reference
          costToBeneficiary*CoverageCostToBeneficiary dependent?string identifier*Identifier network?string
          order?positiveInt payor+Reference period?Period policyHolder?Reference relationship?CodeableConcept
          status!code(active,cancelled,draft,entered-in-error) subrogation?boolean subscriber?Reference
          subscriberId?string type?CodeableConcept
        CoverageClass < BackboneElement: name?string type!CodeableConcept value!string
        CoverageCostToBeneficiary < BackboneElement: exception*CoverageCostToBeneficiaryException type?CodeableConcept
          value[x]!Money|Quantity
        CoverageCostToBeneficiaryException < BackboneElement: period?Period type!CodeableConcept
        DataRequirement < Element: codeFilter*DataRequirementCodeFilter dateFilter*DataRequirementDateFilter
          limit?positiveInt mustSupport*string profile*canonical sort*DataRequirementSort
          subject[x]?CodeableConcept|Reference type!code
        DataRequirementCodeFilter < Element: code*Coding path?string searchParam?string valueSet?canonical
        DataRequirementDateFilter < Element: path?string searchParam?string value[x]?dateTime|Duration|Period
        DataRequirementSort < Element: direction!code(ascending,descending) path!string
        DiagnosticReport < DomainResource: basedOn*Reference category*CodeableConcept code!CodeableConcept
          conclusion?string conclusionCode*CodeableConcept effective[x]?dateTime| Period encounter?Reference
          identifier*Identifier imagingStudy*Reference issued?instant media*DiagnosticReportMedia performer*Reference
          presentedForm*Attachment result*Reference resultsInterpreter*Reference specimen*Reference
          status!code(registered,partial,preliminary,final,amended,corrected,appended,cancelled,entered-in-error,unknown)
          subject?Reference
        DiagnosticReportMedia < BackboneElement: comment?string link!Reference
        Distance < Quantity:
        DocumentReference < DomainResource: authenticator?Reference author*Reference category*CodeableConcept
          content+DocumentReferenceContent context?DocumentReferenceContext custodian?Reference date?instant
          description?string docStatus?code(preliminary,final,amended,entered-in-error) identifier*Identifier
          masterIdentifier?Identifier relatesTo*DocumentReferenceRelatesTo securityLabel*CodeableConcept
          status!code(current,superseded,entered-in-error) subject?Reference type?CodeableConcept
        DocumentReferenceContent < BackboneElement: attachment!Attachment format?Coding
        DocumentReferenceContext < BackboneElement: encounter*Reference event*CodeableConcept
          facilityType?CodeableConcept period?Period practiceSetting?CodeableConcept related*Reference
          sourcePatientInfo?Reference
        DocumentReferenceRelatesTo < BackboneElement: code!code(replaces,transforms,signs,appends) target!Reference
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
        Identifier < Element: assigner?Reference period?Period system?uri type?CodeableConcept
          use?code(usual,official,temp,secondary,old) value?string
        Immunization < DomainResource: doseQuantity?Quantity education*ImmunizationEducation encounter?Reference
          expirationDate?date fundingSource?CodeableConcept identifier*Identifier isSubpotent?boolean location?Reference
          lotNumber?string manufacturer?Reference note*Annotation occurrence[x]!dateTime|string patient!Reference
          performer*ImmunizationPerformer primarySource?boolean programEligibility*CodeableConcept
          protocolApplied*ImmunizationProtocolApplied reaction*ImmunizationReaction reasonCode*CodeableConcept
          reasonReference*Reference recorded?dateTime reportOrigin?CodeableConcept route?CodeableConcept
          site?CodeableConcept status!code(completed,entered-in-error,not-done) statusReason?CodeableConcept
          subpotentReason*CodeableConcept vaccineCode!CodeableConcept
        ImmunizationEducation < BackboneElement: documentType?string presentationDate?dateTime
          publicationDate?dateTime reference?uri
        ImmunizationPerformer < BackboneElement: actor!Reference function?CodeableConcept
        ImmunizationProtocolApplied < BackboneElement: authority?Reference doseNumber[x]!positiveInt|string
          series?string seriesDoses[x]?positiveInt|string targetDisease*CodeableConcept
        ImmunizationReaction < BackboneElement: date?dateTime detail?Reference reported?boolean
        MedicationDispense < DomainResource: authorizingPrescription*Reference category?CodeableConcept
          context?Reference daysSupply?Quantity destination?Reference detectedIssue*Reference dosageInstruction*Dosage
          eventHistory*Reference identifier*Identifier location?Reference medication[x]!CodeableConcept| Reference
          note*Annotation partOf*Reference performer*MedicationDispensePerformer quantity?Quantity receiver*Reference
          status!code(preparation,in-progress,cancelled,on-hold,completed,entered-in-error,stopped,declined,unknown)
          statusReason[x]?CodeableConcept| Reference subject?Reference substitution?MedicationDispenseSubstitution
          supportingInformation*Reference type?CodeableConcept whenHandedOver?dateTime whenPrepared?dateTime
        MedicationDispensePerformer < BackboneElement: actor!Reference function?CodeableConcept
        MedicationDispenseSubstitution < BackboneElement: reason*CodeableConcept responsibleParty*Reference
          type?CodeableConcept wasSubstituted!boolean
        MedicationRequest < DomainResource: authoredOn?dateTime basedOn*Reference category*CodeableConcept
          courseOfTherapyType?CodeableConcept detectedIssue*Reference dispenseRequest?MedicationRequestDispenseRequest
          doNotPerform?boolean dosageInstruction*Dosage encounter?Reference eventHistory*Reference
          groupIdentifier?Identifier identifier*Identifier instantiatesCanonical*canonical instantiatesUri*uri
          insurance*Reference
          intent!code(proposal,plan,order,original-order,reflex-order,filler-order,instance-order,option)
          medication[x]!CodeableConcept|Reference note*Annotation performer?Reference performerType?CodeableConcept
          priorPrescription?Reference priority?code(routine,urgent,asap,stat) reasonCode*CodeableConcept
          reasonReference*Reference recorder?Reference reported[x]?boolean|Reference requester?Reference
          status!code(active,on-hold,cancelled,completed,entered-in-error,stopped,draft,unknown)
          statusReason?CodeableConcept subject!Reference substitution?MedicationRequestSubstitution
          supportingInformation*Reference
        MedicationRequestDispenseRequest < BackboneElement: dispenseInterval?Duration expectedSupplyDuration?Duration
          initialFill?MedicationRequestDispenseRequestInitialFill numberOfRepeatsAllowed?unsignedInt performer?Reference
          quantity?Quantity validityPeriod?Period
        MedicationRequestDispenseRequestInitialFill < BackboneElement: duration?Duration quantity?Quantity
        MedicationRequestSubstitution < BackboneElement: allowed[x]!boolean|CodeableConcept reason?CodeableConcept
        MedicationStatement < DomainResource: basedOn*Reference category?CodeableConcept context?Reference
          dateAsserted?dateTime derivedFrom*Reference dosage*Dosage effective[x]?dateTime|Period identifier*Identifier
          informationSource?Reference medication[x]!CodeableConcept|Reference note*Annotation partOf*Reference
          reasonCode*CodeableConcept reasonReference*Reference
          status!code(active,completed,entered-in-error,intended,stopped,on-hold,unknown,not-taken)
          statusReason*CodeableConcept subject!Reference
        Meta < Element: lastUpdated?instant profile*canonical security*Coding source?uri tag*Coding versionId?id
        Money < Element: currency?code value?decimal
        Narrative < Element: div!xhtml status!code(generated,extensions,additional,empty)
        Observation < DomainResource: basedOn*Reference bodySite?CodeableConcept category*CodeableConcept
          code!CodeableConcept component*ObservationComponent dataAbsentReason?CodeableConcept derivedFrom*Reference
          device?Reference effective[x]?dateTime| instant| Period| Timing encounter?Reference focus*Reference
          hasMember*Reference identifier*Identifier interpretation*CodeableConcept issued?instant method?CodeableConcept
          note*Annotation partOf*Reference performer*Reference referenceRange*ObservationReferenceRange
          specimen?Reference
          status!code(registered,preliminary,final,amended,corrected,cancelled,entered-in-error,unknown)
          subject?Reference value[x]?boolean| CodeableConcept| dateTime| integer| Period| Quantity| Range| Ratio|
          SampledData| string| time
        ObservationComponent < BackboneElement: code!CodeableConcept dataAbsentReason?CodeableConcept
          interpretation*CodeableConcept referenceRange*ObservationReferenceRange value[x]?boolean| CodeableConcept|
          dateTime| integer| Period| Quantity| Range| Ratio| SampledData| string| time
        ObservationReferenceRange < BackboneElement: age?Range appliesTo*CodeableConcept high?Quantity low?Quantity
          text?string type?CodeableConcept
        ParameterDefinition < Element: documentation?string max?string min?integer name?code profile?canonical
          type!code use!code(in,out)
        Period < Element: end?dateTime start?dateTime
        Procedure < DomainResource: asserter?Reference basedOn*Reference bodySite*CodeableConcept
          category?CodeableConcept code?CodeableConcept complication*CodeableConcept complicationDetail*Reference
          encounter?Reference focalDevice*ProcedureFocalDevice followUp*CodeableConcept identifier*Identifier
          instantiatesCanonical*canonical instantiatesUri*uri location?Reference note*Annotation outcome?CodeableConcept
          partOf*Reference performed[x]?Age|dateTime|Period|Range|string performer*ProcedurePerformer
          reasonCode*CodeableConcept reasonReference*Reference recorder?Reference report*Reference
          status!code(preparation,in-progress,not-done,on-hold,stopped,completed,entered-in-error,unknown)
          statusReason?CodeableConcept subject!Reference usedCode*CodeableConcept usedReference*Reference
        ProcedureFocalDevice < BackboneElement: action?CodeableConcept manipulated!Reference
        ProcedurePerformer < BackboneElement: actor!Reference function?CodeableConcept onBehalfOf?Reference
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
        Signature < Element: data?base64Binary onBehalfOf?Reference sigFormat?code targetFormat?code type+Coding
          when!instant who!Reference
        Timing < BackboneElement: code?CodeableConcept event*dateTime repeat?TimingRepeat
        TimingRepeat < Element: bounds[x]?Duration|Period|Range count?positiveInt countMax?positiveInt
          dayOfWeek*code(mon,tue,wed,thu,fri,sat,sun) duration?decimal durationMax?decimal
          durationUnit?code(s,min,h,d,wk,mo,a) frequency?positiveInt frequencyMax?positiveInt offset?unsignedInt
          period?decimal periodMax?decimal periodUnit?code(s,min,h,d,wk,mo,a) timeOfDay*time when*code
        TriggerDefinition < Element: condition?Expression data*DataRequirement name?string timing[x]?date| dateTime|
          Reference| Timing
          type!code(named-event,periodic,data-changed,data-added,data-modified,data-removed,data-accessed,data-access-ended)
        UsageContext < Element: code!Coding value[x]!CodeableConcept|Quantity|Range|Reference
        """
}
