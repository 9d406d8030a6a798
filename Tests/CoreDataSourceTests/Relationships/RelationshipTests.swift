import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// Links of every shape, seen from both sides, in the batch, on main, in a read, and at the next start.
@MainActor @Suite struct RelationshipTests {
    /// Does the edits, then checks in the batch, on main, in a read and in a container that opens the store again.
    private func check(
        edits: @escaping @Sendable (PrivateContext) throws -> Void,
        claims: @escaping @Sendable (ManagedObjectContext) throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let locations: [StoreLocation] = [.sqlite(directory.store), .inMemory]
        for location in locations {
            let container = try await PersistentContainer(model: .graph, store: location)
            let source = try container.dataSource(GraphDataSource.self)
            try await source.perform { context in
                try edits(context)
                try claims(context)
            }
            try claims(container.main)
            try await container.read { try claims($0) }
            try await source.perform { try claims($0) }
            try await container.close()
        }
        let next = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
        let source = try next.dataSource(GraphDataSource.self)
        try claims(next.main)
        try await source.perform { try claims($0) }
        try await next.close()
    }

    /// The links of a new object are found in the contexts of all data sources that save together.
    @Test func newObjectsOfSeveralDataSourcesSeeTheirLinks() async throws {
        try await withTopicsAndLetters { container, topics, letters in
            try await letters.add(["old"])
            for round in 0..<2 {
                let work: @Sendable (PrivateContext, PrivateContext) throws -> Void = { topics, letters in
                    let topic = try topics.topic("t\(round)")
                    #expect(topic.letters.isEmpty)
                    let (new, old) = (try letters.letter("new \(round)"), try letters.letter("old"))
                    (new.topic, old.topic) = (topic, topic)
                    #expect(Set(topic.letters.map(\.key)) == ["new \(round)", "old"])
                    topic.letters.remove(old)
                    #expect(topic.letters.map(\.key) == ["new \(round)"] && old.topic == nil)
                    topic.letters.insert(old)
                    #expect(topic.letters.contains(old) && old.topic === topic)
                }
                await expectThrows(Poison.self) {
                    try await container.perform(in: topics, letters) {
                        try work($0, $1)
                        throw Poison()
                    }
                }
                try await container.perform(in: topics, letters) { try work($0, $1) }
                let topic = try container.main.knownTopic("t\(round)")
                #expect(Set(topic.letters.map(\.key)) == ["new \(round)", "old"])
            }
        }
    }

    @Test func aToOneLinkIsSeenFromBothSides() async throws {
        try await check {
            let topic = try $0.topic("t")
            for key in ["a", "b", "c"] { try $0.letter(key).topic = topic }
            try $0.letter("c").topic = nil
        } claims: {
            let topic = try #require(try $0.first(Topic.self, where: \.key, equals: "t"))
            #expect(topic.letters.map(\.key) == ["a", "b"])
            #expect(topic.letters.count == 2 && !topic.letters.isEmpty)
            let letters = try $0.fetch(Letter.self, order: [.ascending(\.key)])
            #expect(letters.map { $0.topic?.key } == ["t", "t", nil])
            #expect(letters.map { topic.letters.contains($0) } == [true, true, false])
            #expect(letters[0].topic === topic)
        }
    }

    @Test func anObjectLeavesItsOldOwner() async throws {
        try await check {
            let (one, other) = (try $0.topic("1"), try $0.topic("2"))
            let letters = try ["a", "b", "c"].map($0.letter)
            one.letters.insert(contentsOf: letters)
            other.letters.insert(letters[1])
            other.letters.remove(letters[0])
            one.letters.remove(letters[2])
        } claims: {
            let topics = try $0.fetch(Topic.self, order: [.ascending(\.key)])
            #expect(topics.map { $0.letters.map(\.key) } == [["a"], ["b"]])
        }
    }

    @Test func aSetIsReplacedAsAWhole() async throws {
        try await check {
            let topic = try $0.topic("t")
            topic.letters.set(try ["a", "b"].map($0.letter))
            topic.letters.set(try ["b", "c"].map($0.letter))
            try $0.label("l").letters = try ["a", "b", "c"].map($0.letter)
        } claims: {
            let topic = try #require(try $0.first(Topic.self, where: \.key, equals: "t"))
            #expect(topic.letters.map(\.key) == ["b", "c"])
            #expect(try topic.letters.sorted(by: [.descending(\.key)]).map(\.key) == ["c", "b"])
        }
    }

    @Test func manyToManyLinksAreSeenFromBothSides() async throws {
        try await check {
            let (red, blue) = (try $0.label("red"), try $0.label("blue"))
            let (a, b) = (try $0.letter("a"), try $0.letter("b"))
            a.labels.insert(red)
            a.labels.insert(red)
            red.letters.append(b)
            b.labels.insert(blue)
            a.labels.insert(blue)
            a.labels.remove(blue)
        } claims: {
            let letters = try $0.fetch(Letter.self, order: [.ascending(\.key)])
            #expect(letters.map { $0.labels.map(\.key).sorted() } == [["red"], ["blue", "red"]])
            let labels = try $0.fetch(Label.self, order: [.ascending(\.key)])
            #expect(labels.map { $0.letters.map(\.key) } == [["b"], ["a", "b"]])
        }
    }

    @Test func anOrderIsKept() async throws {
        try await check {
            let letter = try $0.letter("a")
            letter.attachments = try ["1", "2", "3"].map($0.attachment)
            letter.attachments.insert(try $0.attachment("0"), at: 0)
            letter.attachments.swapAt(1, 3)
            try $0.attachment("4").letter = letter
            let label = try $0.label("l")
            label.letters = try ["z", "a", "m"].map($0.letter)
            label.letters.move("m", to: 0)
            try $0.letter("b").labels.insert(label)
        } claims: {
            let letter = try #require(try $0.first(Letter.self, where: \.key, equals: "a"))
            #expect(letter.attachments.map(\.key) == ["0", "3", "2", "1", "4"])
            let label = try #require(try $0.first(Label.self, where: \.key, equals: "l"))
            #expect(label.letters.map(\.key) == ["m", "z", "a", "b"])
        }
    }

    @Test func aNewOrderOfTheSameObjectsIsSeenInTheBatch() async throws {
        try await check {
            let letter = try $0.letter("a")
            letter.attachments = try ["1", "2", "3"].map($0.attachment)
            #expect(letter.attachments.map(\.key) == ["1", "2", "3"])
            letter.attachments.swapAt(0, 2)
        } claims: {
            let letter = try #require(try $0.first(Letter.self, where: \.key, equals: "a"))
            #expect(letter.attachments.map(\.key) == ["3", "2", "1"])
        }
    }

    /// Only the places of links changed, which main took for no change of links.
    @Test func anOrderThatChangesIsShownAtOnce() async throws {
        let container = try await PersistentContainer(model: .graph, store: .inMemory)
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { context in
            try context.letter("a").attachments = ["1", "2", "3"].map(context.attachment)
            try context.label("l").letters = ["x", "y", "z"].map(context.letter)
        }
        let letter = try #require(try container.main.first(Letter.self, where: \.key, equals: "a"))
        let label = try #require(try container.main.first(Label.self))
        #expect(letter.attachments.map(\.key) == ["1", "2", "3"] && label.letters.map(\.key) == ["x", "y", "z"])
        try await source.perform { context in
            let (letter, label) = (try context.letter("a"), try context.label("l"))
            letter.attachments.swapAt(0, 2)
            label.letters.swapAt(0, 1)
            #expect(letter.attachments.map(\.key) == ["3", "2", "1"] && label.letters.map(\.key) == ["y", "x", "z"])
        }
        #expect(letter.attachments.map(\.key) == ["3", "2", "1"] && label.letters.map(\.key) == ["y", "x", "z"])
        try await container.close()
    }

    @Test func aOneToOneLinkHasOnePartner() async throws {
        try await check {
            let (a, b) = (try $0.person("a"), try $0.person("b"))
            let (one, other) = (try $0.insert(Passport.self), try $0.insert(Passport.self))
            (one.key, other.key) = ("1", "2")
            a.passport = one
            other.holder = b
            #expect(one.holder === a && b.passport === other)
            // Each gets the other's.
            (a.passport, b.passport) = (b.passport, a.passport)
            one.holder = b
        } claims: {
            let persons = try $0.fetch(Person.self, order: [.ascending(\.key)])
            #expect(persons.map { $0.passport?.key } == ["2", "1"])
            let passports = try $0.fetch(Passport.self, order: [.ascending(\.key)])
            #expect(passports.map { $0.holder?.key } == ["b", "a"])
        }
    }

    @Test func aRelationshipThatIsItsOwnInverseIsTheSameFromBothEnds() async throws {
        try await check {
            let (a, b, c) = (try $0.person("a"), try $0.person("b"), try $0.person("c"))
            a.spouse = b
            c.spouse = b
            a.friends.insert(b)
            c.friends.set([a, b])
            b.friends.remove(c)
        } claims: {
            let persons = try $0.fetch(Person.self, order: [.ascending(\.key)])
            #expect(persons.map { $0.spouse?.key } == [nil, "c", "b"])
            #expect(persons.map { $0.friends.map(\.key) } == [["b", "c"], ["a"], ["a"]])
        }
    }

    @Test func linksLeadToObjectsOfSubEntities() async throws {
        try await check {
            let (cat, dog) = (try $0.insert(Cat.self), try $0.insert(Dog.self))
            (cat.key, dog.key) = ("cat", "dog")
            try $0.person("a").animals.insert(contentsOf: [cat, dog])
            dog.chasing = cat
        } claims: {
            let person = try #require(try $0.first(Person.self, where: \.key, equals: "a"))
            #expect(person.animals.map(\.key).sorted() == ["cat", "dog"])
            let dog = try #require(try $0.first(Dog.self, where: \.key, equals: "dog"))
            #expect((dog.chasing as? Cat)?.lives == 9 && dog.keeper === person)
        }
    }

    @Test func aRelationshipWithoutAnInverseHoldsLinksOfItsOwn() async throws {
        try await check {
            let letter = try $0.letter("a")
            let (inbox, archive) = (try $0.folder("inbox"), try $0.folder("archive"))
            inbox.letters.insert(letter)
            archive.letters.insert(letter)
            archive.parent = inbox
            letter.readBy = try $0.person("p")
        } claims: {
            let folders = try $0.fetch(Folder.self, order: [.ascending(\.key)])
            #expect(folders.map { $0.letters.map(\.key) } == [["a"], ["a"]])
            #expect(folders[1].children.map(\.key) == ["archive"])
            #expect(try $0.first(Letter.self, where: \.key, equals: "a")?.readBy?.key == "p")
        }
    }

    @Test func aRollbackUndoesLinks() async throws {
        let container = try await PersistentContainer(model: .graph, store: .inMemory)
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { context in
            let letter = try context.letter("a")
            letter.topic = try context.topic("1")
            letter.labels.insert(try context.label("l"))
        }
        await expectThrows(Poison.self) {
            try await source.perform { context in
                let letter = try context.letter("a")
                letter.topic = try context.topic("2")
                letter.labels.removeAll()
                #expect(letter.labels.isEmpty)
                throw Poison()
            }
        }
        try await source.perform { context in
            let letter = try context.letter("a")
            #expect(letter.topic?.key == "1" && letter.labels.map(\.key) == ["l"])
            #expect(try context.topic("1").letters.count == 1)
        }
        try await container.close()
    }

    @Test func mainShowsLinksThatAreMadeLater() async throws {
        let container = try await PersistentContainer(model: .graph, store: .inMemory)
        let source = try container.dataSource(GraphDataSource.self)
        try await source.perform { _ = try $0.topic("t") }
        let topic = try #require(try container.main.first(Topic.self, where: \.key, equals: "t"))
        #expect(topic.letters.isEmpty)
        try await source.perform { try $0.letter("a").topic = $0.topic("t") }
        #expect(topic.letters.map(\.key) == ["a"])
        try await source.perform { context in context.delete(try context.letter("a")) }
        #expect(topic.letters.isEmpty)
        try await container.close()
    }

    @Test func requiredRelationshipsMustBeLinked() async throws {
        let container = try await PersistentContainer(model: .graph, store: .inMemory)
        let source = try container.dataSource(GraphDataSource.self)
        let error = await expectError(.validationFailed) {
            try await source.perform { try $0.insert(Passport.self).key = "1" }
        }
        #expect(error?.attributeName == "holder")
        let crowded = await expectError(.validationFailed) {
            try await source.perform { context in
                for number in 0..<4 {
                    let cat = try context.insert(Cat.self)
                    cat.key = "\(number)"
                    cat.keeper = try context.person("p")
                }
            }
        }
        #expect(crowded?.attributeName == "animals")
        #expect(try container.main.count(Animal.self) == 0)
        try await container.close()
    }
}

extension [Letter] {
    fileprivate mutating func move(_ key: String, to place: Int) {
        guard let index = firstIndex(where: { $0.key == key }) else { return }
        insert(remove(at: index), at: place)
    }
}
