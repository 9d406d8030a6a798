import CoreDataSource

/// Live aggregates of a replay, and what a fetch has to give.
@MainActor
struct ReplayTotals {
    private let request = ObjectRequest(Letter.self, where: \.subject < "5")
    private let extremes: LiveAggregate<(Int, String?, String?)>
    private let subjects: LiveAggregate<[String: Int]>
    private let topics: LiveAggregate<[String?: Int]>
    private let topicCount: LiveAggregate<Int>
    /// Few saves concern each of these.
    private let countsBySubject: [LiveAggregate<Int>]

    init(_ letters: LetterDataSource) throws {
        extremes = try letters.liveAggregate(request, .count(), .min(\.subject), .max(\.subject))
        subjects = try letters.liveAggregate(ObjectRequest<Letter>(), groupBy: \.subject, .count())
        topics = try letters.liveAggregate(request, groupBy: \.topic?.title, .count())
        topicCount = try letters.liveAggregate(ObjectRequest<Topic>(where: \.title != "3"), .count())
        countsBySubject = try (0..<10).map { subject in
            try letters.liveAggregate(ObjectRequest<Letter>(where: \.subject == "\(subject)"), .count())
        }
    }

    func problems(_ letters: LetterDataSource) throws -> [String] {
        let all = try letters.main.fetch(Letter.self)
        let some = all.filter { $0.subject < "5" }
        var found: [String] = []
        let plain = (some.count, some.map(\.subject).min(), some.map(\.subject).max())
        if extremes.value != plain { found.append("totals: \(extremes.value) instead of \(plain)") }
        let bySubject = Dictionary(grouping: all, by: \.subject).mapValues(\.count)
        if subjects.value != bySubject { found.append("totals: \(subjects.value) instead of \(bySubject)") }
        let byTopic = Dictionary(grouping: some) { $0.topic?.title }.mapValues(\.count)
        if topics.value != byTopic { found.append("totals: \(topics.value) instead of \(byTopic)") }
        let count = try letters.main.fetch(Topic.self).count { $0.title != "3" }
        if topicCount.value != count { found.append("totals: \(topicCount.value) instead of \(count) topics") }
        for (subject, aggregate) in countsBySubject.enumerated() {
            let count = bySubject["\(subject)"] ?? 0
            if aggregate.value != count { found.append("totals: \(aggregate.value) of \(subject) instead of \(count)") }
        }
        return found
    }
}
