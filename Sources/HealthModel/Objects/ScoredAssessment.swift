/// The answers to a questionnaire (`HKScoredAssessment`: GAD-7 for anxiety, PHQ-9 for depression); their sum is the sample's number.
public struct ScoredAssessment: Hashable, Sendable, Codable {
    /// A raw number for each question, of ``ObjectValues/gad7Answer`` or ``ObjectValues/phq9Answer``.
    public var answers: [Int]
    /// What the source makes of the score, of ``ObjectValues/gad7Risk`` or ``ObjectValues/phq9Risk``.
    public var risk: String?

    /// An assessment of its answers.
    public init(answers: [Int], risk: String? = nil) { (self.answers, self.risk) = (answers, risk) }
}
