/// The answers to a questionnaire (`HKScoredAssessment`: GAD-7 for anxiety, PHQ-9 for depression). Their sum is the sample's number.
public struct ScoredAssessment: Hashable, Sendable, Codable {
    /// A raw number for each question, from ``ObjectValues/gad7Answer`` or ``ObjectValues/phq9Answer``.
    public var answers: [Int]
    /// The source's rating of the score, from ``ObjectValues/gad7Risk`` or ``ObjectValues/phq9Risk``.
    public var risk: String?

    /// An assessment with its answers.
    public init(answers: [Int], risk: String? = nil) { (self.answers, self.risk) = (answers, risk) }
}

extension ScoredAssessment: ObjectBody {
    public func check(as type: SampleType, document: [UInt8]) throws(InvalidObject) {
        let isAnxiety = type.id == "gad7"
        let count = isAnxiety ? 7 : 9
        guard answers.count == count else { throw InvalidObject("answers", "there must be \(count)") }
        let names = isAnxiety ? ObjectValues.gad7Answer : ObjectValues.phq9Answer
        guard answers.allSatisfy({ names.name(of: $0) != nil }) else {
            throw InvalidObject("answers", "one is not an answer of this questionnaire")
        }
        try InvalidObject.checkName(risk, in: isAnxiety ? ObjectValues.gad7Risk : ObjectValues.phq9Risk, "risk")
    }
}
