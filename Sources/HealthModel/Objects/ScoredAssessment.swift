/// The answers to a questionnaire (`HKScoredAssessment`: GAD-7 for anxiety, PHQ-9 for depression). Their sum is the sample's number.
public struct ScoredAssessment: Hashable, Sendable, Codable {
    /// A raw number for each question, from ``ObjectValues/gad7Answer`` or ``ObjectValues/phq9Answer``.
    public var answers: [Int]
    /// The source's rating of the score, from ``ObjectValues/gad7Risk`` or ``ObjectValues/phq9Risk``.
    public var risk: String?

    /// An assessment with its answers.
    public init(answers: [Int], risk: String? = nil) { (self.answers, self.risk) = (answers, risk) }
}
