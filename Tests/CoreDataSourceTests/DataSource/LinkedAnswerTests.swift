import CoreDataSource
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
}

/// People of a server.
private final class ListedPeople: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Person.self, Passport.self] }

    override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? { try context.person(key) }
}
