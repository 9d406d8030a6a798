import CoreDataSource
import ErrorExpectations
import Testing

/// Answers of a server whose objects other data sources link to.
extension LinkedMeanwhileTests {
    /// The server has said that the letters are not modified, so an older answer takes no link from them.
    @Test(arguments: [true, false])
    func anOlderAnswerTakesNoLinkFromALetterOfALaterList(isConfirmed: Bool) async throws {
        try await withEmptyGraph { container in
            let people = try container.dataSource(ListedPeople.self)
            let letters = try container.dataSource(LetterDataSource.self)
            let (all, list) = (SyncScope("people", Person.self), SyncScope("letters", Letter.self))
            try await people.add(["p", "q"])
            try await letters.perform { context in
                try context.letter("l").readBy = try context.knownPerson("p")
            }
            try await letters.load(list, maxAge: .zero) { _ in .list(["l"], entityTag: "1") }
            let requests = Shared(0)
            try await people.load(all, maxAge: .zero, deleting: .all) { _ in
                requests.update { $0 += 1 }
                if requests.value > 1 { return .list(["p", "q"]) }
                try await letters.load(list, maxAge: .zero) { _ in
                    if isConfirmed { return .notModified }
                    return .list(["l"], entityTag: "2")
                }
                return .list(["q"])
            }
            #expect(requests.value == 2)
            #expect(try container.main.count(Person.self) == 2)
            #expect(try container.main.first(Letter.self)?.readBy?.key == "p")
        }
    }

    /// The third answer may take a link from a letter that stays in a list which is confirmed during each request.
    @Test func aLinkThatIsTakenFromAListThatIsNotModifiedEndsNoLoad() async throws {
        try await withEmptyGraph { container in
            let people = try container.dataSource(ListedPeople.self)
            let letters = try container.dataSource(LetterDataSource.self)
            let (all, list) = (SyncScope("people", Person.self), SyncScope("letters", Letter.self))
            try await people.add(["p", "q"])
            try await letters.perform { context in
                try context.letter("l").readBy = try context.knownPerson("p")
            }
            try await letters.load(list, maxAge: .zero) { _ in .list(["l"], entityTag: "1") }
            let requests = Shared(0)
            try await people.load(all, maxAge: .zero, deleting: .all) { _ in
                requests.update { $0 += 1 }
                try await letters.load(list, maxAge: .zero) { _ in .notModified }
                return .list(["q"])
            }
            #expect(requests.value == 3)
            #expect(try container.main.fetch(Person.self).map(\.key) == ["q"])
            #expect(try container.main.first(Letter.self)?.readBy == nil)
        }
    }

    // MARK: Errors

    /// The rule would refuse what the older answer deletes. But the answer is not stored anyway.
    @Test(arguments: [true, false])
    func theRuleDenyEndsNoLoadWhoseAnswerIsOlderThanALaterList(isConfirmed: Bool) async throws {
        try await withEmptyGraph { container in
            let people = try container.dataSource(ListedPeople.self)
            let letters = try container.dataSource(LetterDataSource.self)
            let all = SyncScope("all", Person.self)
            let one = SyncScope("one", Person.self, where: \.key == "p")
            try await people.add(["p", "q"])
            try await people.load(one, maxAge: .zero) { _ in .list(["p"], entityTag: "1") }
            let requests = Shared(0)
            try await people.load(all, maxAge: .zero, deleting: .all) { _ in
                requests.update { $0 += 1 }
                if requests.value > 1 { return .list(["p", "q"]) }
                try await people.load(one, maxAge: .zero) { _ in
                    if isConfirmed { return .notModified }
                    return .list(["p"], entityTag: "2")
                }
                try await letters.perform { context in
                    try context.letter("l").author = try context.knownPerson("p")
                }
                return .list(["q"])
            }
            #expect(requests.value == 2)
            #expect(try container.main.count(Person.self) == 2)
            #expect(try container.main.first(Letter.self)?.author?.key == "p")
            #expect(try people.freshness(of: all).failureCount == 0)
        }
    }

    /// No other answer was stored during the request, so the app gets the error at once.
    @Test func theRuleDenyEndsALoadIfNoOtherAnswerIsStored() async throws {
        try await withEmptyGraph { container in
            let people = try container.dataSource(ListedPeople.self)
            let letters = try container.dataSource(LetterDataSource.self)
            try await people.add(["p", "q"])
            let (all, requests) = (SyncScope("all", Person.self), Shared(0))
            await expectError(.deletionDenied) {
                try await people.load(all, maxAge: .zero, deleting: .all) { _ in
                    requests.update { $0 += 1 }
                    try await letters.perform { context in
                        try context.letter("l").author = try context.knownPerson("p")
                    }
                    return .list(["q"])
                }
            }
            #expect(requests.value == 1)
            #expect(try people.freshness(of: all).failureCount == 1)
        }
    }

    /// The hook of the older answer does not find the person that a later list has deleted.
    @Test func anErrorOfAHookEndsNoLoadWhoseAnswerIsOlder() async throws {
        try await withEmptyGraph { container in
            let people = try container.dataSource(ListedPeople.self)
            let letters = try container.dataSource(SentLetters.self)
            let (all, list) = (SyncScope("people", Person.self), SyncScope("letters", Letter.self))
            try await people.add(["p", "q"])
            let requests = Shared(0)
            try await letters.load(list, maxAge: .zero) { _ in
                requests.update { $0 += 1 }
                if requests.value > 1 { return .list(["q"]) }
                try await people.load(all, maxAge: .zero, deleting: .all) { _ in .list(["q"]) }
                return .list(["p", "q"])
            }
            #expect(requests.value == 2)
            #expect(try container.main.fetch(Letter.self).map(\.key) == ["q"])
            #expect(try letters.freshness(of: list).failureCount == 0)
        }
    }

    /// The answers are for objects that the load does not change, and to which it makes no links.
    @Test func answersForOtherObjectsDoNotRepeatALoadThatFails() async throws {
        try await withEmptyGraph { container in
            let people = try container.dataSource(ListedPeople.self)
            let topics = try container.dataSource(TopicDataSource.self)
            let (all, requests) = (SyncScope("people", Person.self), Shared(0))
            await expectThrows(Poison.self) {
                try await people.load(all, maxAge: .zero) { _ in
                    requests.update { $0 += 1 }
                    try await topics.load(SyncScope("topics", Topic.self), maxAge: .zero) { _ in .list(["t"]) }
                    return .list(["poison"])
                }
            }
            #expect(requests.value == 1)
        }
    }
}

/// Letters, each with an author that must be stored before.
private final class SentLetters: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Letter.self, Attachment.self] }

    override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        let letter = try context.letter(key)
        letter.author = try context.knownPerson(key)
        return letter
    }
}

/// People of a server.
private final class ListedPeople: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Person.self, Passport.self] }

    override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        if key == "poison" { throw Poison() }
        return try context.person(key)
    }
}
