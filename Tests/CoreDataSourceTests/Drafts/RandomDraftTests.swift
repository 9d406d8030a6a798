import CoreDataSource
import ErrorExpectations
import Foundation
import TestSupport
import Testing

/// Drafts and other saves that change the same objects at random, compared with a merge of dictionaries.
@MainActor @Suite struct RandomDraftTests {
    @Test func randomMergesEqualTheReference() async throws {
        for seed in 0..<UInt64(TestScale.drafts) { try await run(seed) }
    }

    /// Accessors, fetches, undo, deletions and saves in any order, with others writing.
    @Test func randomDraftStepsEqualTheReference() async throws {
        let first = testSeed()
        for seed in (0..<UInt64(TestScale.drafts / 2)).map({ first &+ $0 }) {
            let directory = try TemporaryDirectory()
            let file = seed % 4 == 0 ? directory.store : nil
            try await withGraph(file.map { .sqlite($0) } ?? .inMemory) { container, source in
                let replay = try await DraftReplay(container, source, file, SeededRandom(seed: seed))
                for step in 0..<60 {
                    if try await !replay.step() {
                        Issue.record("COREDATASOURCE_SEED=\(seed), step \(step)")
                        return
                    }
                }
            }
        }
    }

    private func run(_ seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        try await withGraph(seed % 8 == 0 ? nil : .inMemory) { container, source in
            var base = DraftReference()
            base.edit(12, &random, prefix: "b")
            try await source.perform { [base] in try base.write(to: $0, from: DraftReference()) }
            let draft = try source.draft(inserting: Station.self)
            draft.object.key = "s"
            for round in 0..<4 {
                var mine = base
                var theirs = base
                for letter in try draft.context.fetch(Letter.self) { _ = (letter.topic, letter.labels.count) }
                mine.edit(random.next(below: 8), &random, prefix: "m\(round)")
                try mine.write(to: draft.context, from: base)
                try undoAndRedo(draft, &random)
                theirs.edit(random.next(below: 8), &random, prefix: "t\(round)")
                try await source.perform { [theirs, base] in try theirs.write(to: $0, from: base) }
                var isMine = random.next(below: 2) == 0
                if isMine, DraftReference.needsDeletedObject(base: base, mine: mine, theirs: theirs) {
                    await expectError(.objectGone, "seed \(seed), round \(round)") {
                        try await draft.save(resolving: .keepMine)
                    }
                    isMine = false
                }
                let (merged, conflicts) = DraftReference.merge(base: base, mine: mine, theirs: theirs, isMine: isMine)
                #expect(try draft.conflicts().count == conflicts, "seed \(seed), round \(round)")
                if conflicts > 0 {
                    await expectError(.draftConflict) { try await draft.save() }
                    #expect(try DraftReference(container.main) == theirs, "seed \(seed), round \(round)")
                    #expect(try DraftReference(draft.context, letters: Set(mine.letters.keys)).isWithin(mine, theirs))
                }
                try await draft.save(resolving: isMine ? .keepMine : .takeTheirs)
                #expect(try DraftReference(container.main) == merged, "seed \(seed), round \(round)")
                #expect(try DraftReference(draft.context) == merged, "seed \(seed), round \(round)")
                #expect(!draft.hasChanges, "seed \(seed), round \(round)")
                base = merged
            }
        }
    }

    /// Steps back and forth end where they began.
    private func undoAndRedo(_ draft: Draft<Station>, _ random: inout SeededRandom) throws {
        let before = try DraftReference(draft.context)
        var steps = 0
        for _ in 0..<random.next(below: 6) where draft.canUndo {
            draft.undo()
            steps += 1
        }
        for _ in 0..<steps { draft.redo() }
        let after = try DraftReference(draft.context)
        #expect(before == after)
    }
}

/// `COREDATASOURCE_DRAFTS` says how many drafts are tried, and `COREDATASOURCE_SEED` repeats a run.
private enum TestScale {
    static let drafts = ProcessInfo.processInfo.environment["COREDATASOURCE_DRAFTS"].flatMap { Int($0) } ?? 60
}

/// Letters with a subject, a topic and labels, as dictionaries.
struct DraftReference: Equatable, Sendable {
    struct Fields: Equatable, Sendable {
        var subject = ""
        var topic: String?
        var labels: Set<String> = []
    }

    static let topics = ["1", "2", "3"]
    static let labels = ["x", "y", "z"]
    var letters: [String: Fields] = [:]

    init() {}

    /// What a context shows.
    init(_ context: ManagedObjectContext, letters keys: Set<String>? = nil) throws {
        for letter in try context.fetch(Letter.self) where keys?.contains(letter.key) ?? true {
            letters[letter.key] = Fields(
                subject: letter.subject, topic: letter.topic?.key, labels: Set(letter.labels.map(\.key)))
            #expect(letter.topic.map { $0.letters.contains(letter) } ?? true)
            #expect(letter.labels.allSatisfy { $0.letters.contains { $0 === letter } })
        }
    }

    func isWithin(_ mine: DraftReference, _ theirs: DraftReference) -> Bool {
        letters.keys.allSatisfy { mine.letters[$0] != nil || theirs.letters[$0] != nil }
    }

    mutating func edit(_ count: Int, _ random: inout SeededRandom, prefix: String) {
        for number in 0..<count {
            guard let key = letters.keys.sorted().randomElement(using: &random), random.next(below: 5) > 0 else {
                letters["\(prefix)-\(number)"] = Fields()
                continue
            }
            switch random.next(below: 6) {
            case 0, 1: letters[key]?.subject = "\(random.next(below: 3))"
            case 2: letters[key]?.topic = Self.topics.randomElement(using: &random)
            case 3: letters[key]?.topic = nil
            case 4:
                let label = Self.labels[random.next(below: 3)]
                letters[key]?.labels.formSymmetricDifference([label])
            default: letters[key] = nil
            }
        }
    }

    /// Does to a context what leads from the other reference to this one.
    func write(to context: EditingContext, from before: DraftReference) throws {
        let topics = try Dictionary(
            uniqueKeysWithValues: Self.topics.map {
                ($0, try context.findOrInsert(Topic.self, where: \.key, equals: $0))
            })
        let labels = try Dictionary(
            uniqueKeysWithValues: Self.labels.map {
                ($0, try context.findOrInsert(Label.self, where: \.key, equals: $0))
            })
        for key in Set(letters.keys).union(before.letters.keys).sorted() where letters[key] != before.letters[key] {
            guard let fields = letters[key] else {
                if let letter = try context.first(Letter.self, where: \.key, equals: key) { context.delete(letter) }
                continue
            }
            let letter = try context.findOrInsert(Letter.self, where: \.key, equals: key)
            let old = before.letters[key] ?? Fields()
            if fields.subject != old.subject { letter.subject = fields.subject }
            if fields.topic != old.topic { letter.topic = fields.topic.flatMap { topics[$0] } }
            for label in fields.labels.subtracting(old.labels) { labels[label].map { letter.labels.insert($0) } }
            for label in old.labels.subtracting(fields.labels) { labels[label].map { letter.labels.remove($0) } }
        }
    }

    /// - Returns: What both make together, and the number of conflicts.
    static func merge(
        base: DraftReference, mine: DraftReference, theirs: DraftReference, isMine: Bool
    ) -> (DraftReference, Int) {
        var merged = theirs
        var conflicts = 0
        for key in Set(mine.letters.keys).union(base.letters.keys) {
            switch (base.letters[key], mine.letters[key], theirs.letters[key]) {
            case (nil, let mine?, _): merged.letters[key] = mine
            case (let base?, nil, let theirs?):
                // Links that are rows of their own are not the object's fields.
                let isConflict = base.subject != theirs.subject || base.topic != theirs.topic
                if isConflict { conflicts += 1 }
                if isMine || !isConflict { merged.letters[key] = nil }
            case (let base?, let mine?, nil):
                let isEdited = base.subject != mine.subject || base.topic != mine.topic
                let added = mine.labels.subtracting(base.labels)
                conflicts += (isEdited ? 1 : 0) + added.count
                guard isEdited && isMine else { continue }
                merged.letters[key] = Fields(subject: mine.subject, topic: mine.topic, labels: added)
            case (let base?, let mine?, let theirs?):
                var fields = theirs
                conflicts += pick(base.subject, mine.subject, theirs.subject, isMine, &fields.subject)
                conflicts += pick(base.topic, mine.topic, theirs.topic, isMine, &fields.topic)
                fields.labels.formUnion(mine.labels.subtracting(base.labels))
                fields.labels.subtract(base.labels.subtracting(mine.labels))
                merged.letters[key] = fields
            default: break
            }
        }
        return (merged, conflicts)
    }

    /// Whether only labels were put on a letter that others have deleted.
    static func needsDeletedObject(base: DraftReference, mine: DraftReference, theirs: DraftReference) -> Bool {
        base.letters.contains { key, base in
            guard let mine = mine.letters[key], theirs.letters[key] == nil else { return false }
            return mine.subject == base.subject && mine.topic == base.topic && !mine.labels.isSubset(of: base.labels)
        }
    }

    private static func pick<Value: Equatable>(
        _ base: Value, _ mine: Value, _ theirs: Value, _ isMine: Bool, _ merged: inout Value
    ) -> Int {
        guard mine != base else { return 0 }
        let isConflict = theirs != base && theirs != mine
        if isMine || !isConflict { merged = mine }
        return isConflict ? 1 : 0
    }
}
