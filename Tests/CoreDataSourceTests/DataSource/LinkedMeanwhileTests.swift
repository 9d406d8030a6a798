import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// Objects of another data source that are deleted while a batch links to them.
@MainActor
struct LinkedMeanwhileTests {
    /// Lets the other batch go on, if nothing keeps it from that.
    private func giveTime() async { try? await Task.sleep(for: .milliseconds(50)) }

    /// Runs a batch that makes a link, and deletes the linked object before the batch ends.
    ///
    /// - Parameters:
    ///   - batch: The batch. It calls the closure that it gets after it has made the link.
    ///   - deletion: The deletion.
    ///   - check: Called while the batch still runs.
    private func link(
        _ batch: @escaping @Sendable (_ pause: @escaping @Sendable () -> Void) async throws -> Void,
        andDelete deletion: @escaping @Sendable () async throws -> Void, check: () async throws -> Void
    ) async throws {
        var deleting: Task<Void, any Error>?
        try await hold(batch) {
            deleting = Task { try await deletion() }
            await giveTime()
            try await check()
        }
        try await deleting?.value
    }

    @Test func aLinkWithoutAnInverseIsTakenByTheLaterDeletion() async throws {
        try await withEmptyGraph { container in
            let people = try container.dataSource(PlainDataSource<Person, Passport>.self)
            let letters = try container.dataSource(LetterDataSource.self)
            try await people.perform { _ = try $0.person("p") }
            try await link { pause in
                try await letters.perform { context in
                    try context.letter("l").readBy = try context.knownPerson("p")
                    pause()
                }
            } andDelete: {
                try await people.delete(Person.self, where: nil)
            } check: {
                let count = try container.main.count(Person.self)
                #expect(count == 1)
            }
            #expect(try container.main.count(Person.self) == 0)
            #expect(try container.main.first(Letter.self)?.readBy == nil)
            #expect(try container.lostLinks() == [])
        }
    }

    @Test func theRuleDenySeesTheNewLink() async throws {
        try await withEmptyGraph { container in
            let people = try container.dataSource(PlainDataSource<Person, Passport>.self)
            let letters = try container.dataSource(LetterDataSource.self)
            try await people.perform { _ = try $0.person("p") }
            try await link { pause in
                try await letters.perform { context in
                    try context.letter("l").author = try context.knownPerson("p")
                    pause()
                }
            } andDelete: {
                await expectError(.deletionDenied) { try await people.delete(Person.self, where: nil) }
            } check: {
                let count = try container.main.count(Person.self)
                #expect(count == 1)
            }
            #expect(try container.main.first(Letter.self)?.author?.key == "p")
        }
    }

    @Test func aOneToOneLinkIsFoundByTheLaterDeletion() async throws {
        try await withEmptyGraph { container in
            let people = try container.dataSource(PlainDataSource<Person>.self)
            let passports = try container.dataSource(PlainDataSource<Passport>.self)
            try await people.perform { _ = try $0.person("p") }
            try await link { pause in
                try await passports.perform { context in
                    try context.passport("1").holder = try context.knownPerson("p")
                    pause()
                }
            } andDelete: {
                try await people.delete(Person.self, where: nil)
            } check: {
                let count = try container.main.count(Person.self)
                #expect(count == 1)
            }
            // The rule of the person is Cascade.
            #expect(try container.main.count(Person.self) == 0)
            #expect(try container.main.count(Passport.self) == 0)
        }
    }

    /// One data source alone cannot change a join table, and a batch of both holds up the deletions of both.
    @Test func aRowOfAJoinTableIsDeletedByTheLaterDeletion() async throws {
        try await withEmptyGraph { container in
            let folders = try container.dataSource(PlainDataSource<Folder>.self)
            let letters = try container.dataSource(LetterDataSource.self)
            try await letters.perform { _ = try $0.letter("l") }
            await expectError(.entityNotOwned) {
                try await folders.perform { context in
                    let letter = try context.knownLetter("l")
                    try context.folder("f").letters.insert(letter)
                }
            }
            try await link { pause in
                try await container.perform(in: folders, letters) { folders, letters in
                    let letter = try letters.knownLetter("l")
                    try folders.folder("f").letters.insert(letter)
                    pause()
                }
            } andDelete: {
                try await letters.delete(Letter.self, where: nil)
            } check: {
                let count = try container.main.count(Letter.self)
                #expect(count == 1)
            }
            #expect(try container.main.count(Letter.self) == 0)
            #expect(try container.main.first(Folder.self)?.letters.isEmpty == true)
            #expect(try container.lostLinks() == [])
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func aDeletionOfAnotherProcessWaitsForTheBatch(kind: SharedPlace.Kind) async throws {
        try await kind.withTwo(model: .graph) { one, other in
            try await one.dataSource(TopicDataSource.self).add("t")
            let letters = try one.dataSource(LetterDataSource.self)
            let topics = try other.dataSource(TopicDataSource.self)
            try await link { pause in
                try await letters.perform { context in
                    try context.letter("l").topic = try context.knownTopic("t")
                    pause()
                }
            } andDelete: {
                try await topics.delete("t")
            } check: {
                let count = try await other.read { try $0.count(Topic.self) }
                #expect(count == 1)
            }
            // The rule of the topic is Cascade.
            #expect(try await other.read { try $0.count(Topic.self) } == 0)
            #expect(try await other.read { try $0.count(Letter.self) } == 0)
        }
    }

    /// The rule leaves the links to a deleted object, in whatever order link and deletion are saved.
    @Test(arguments: [true, false]) func noActionLeavesTheSameInEitherOrder(isMeanwhile: Bool) async throws {
        try await withEmptyGraph { container in
            let stations = try container.dataSource(PlainDataSource<Station>.self)
            let letters = try container.dataSource(LetterDataSource.self)
            try await stations.perform { _ = try $0.station("s") }
            try await letters.perform { context in
                try context.letter("l").place = try context.first(Station.self, where: \.key, equals: "s")
                // The deletion does not wait for the batch.
                if isMeanwhile { _ = try waitHere { try await stations.delete(Station.self, where: nil) } }
            }
            if !isMeanwhile { try await stations.delete(Station.self, where: nil) }
            #expect(try container.main.count(Station.self) == 0)
            #expect(try container.main.first(Letter.self)?.place == nil)
            #expect(try container.lostLinks() == ["Letter l.place"])
            // The link never leads to a later object.
            try await stations.perform { _ = try $0.station("next") }
            #expect(try container.main.first(Station.self)?.letters.isEmpty == true)
            #expect(try container.main.first(Letter.self)?.place == nil)
        }
    }

    /// Deletes a person in a batch that pauses after the delete rules found no data source of letters. Meanwhile, makes this data
    /// source, and links a letter to the person.
    ///
    /// - Parameters:
    ///   - pause: The closure that the batch calls after the rules were applied.
    ///   - delete: Deletes the person.
    private func linkNewLetter(
        _ container: PersistentContainer, pause: Shared<(@Sendable () -> Void)?>,
        whileDeletingBy delete: @escaping @Sendable () async throws -> Void
    ) async throws {
        let (hasDeleted, end) = (Gate(), Gate())
        pause.value = {
            hasDeleted.open()
            end.wait()
        }
        let deleting = Task {
            defer { hasDeleted.open() }
            try await delete()
        }
        let linking: Task<Bool, any Error>
        do {
            defer { end.open() }
            await hasDeleted.opened()
            let letters = try container.dataSource(LetterDataSource.self)
            #expect(container.stack.batchWaitCount == 1)
            linking = Task {
                try await letters.perform { context in
                    let person = try context.first(Person.self, where: \.key, equals: "p")
                    try context.letter("l").author = person
                    return person != nil
                }
            }
            await giveTime()
        }
        try await deleting.value
        let isLinked = try await linking.value
        #expect(!isLinked)
        #expect(try container.main.count(Person.self) == 0)
        let letter = try container.main.first(Letter.self)
        #expect(letter != nil && letter?.author == nil)
        #expect(try container.lostLinks() == [])
    }

    @Test func aDataSourceThatIsMadeDuringADeletionLinksToNoDeletedObject() async throws {
        try await withEmptyGraph { container in
            let people = try container.dataSource(PausedPeople.self)
            try await people.perform { _ = try $0.person("p") }
            try await linkNewLetter(container, pause: people.pause) {
                try await people.delete(Person.self, where: nil)
            }
        }
    }

    /// The hook of an add may delete an object whose delete rules reach entities that no data source owns.
    @Test func aDataSourceThatIsMadeDuringAnAddThatDeletesLinksToNoDeletedObject() async throws {
        try await withEmptyGraph { container in
            let people = try container.dataSource(PeopleWhoLeave.self)
            try await people.perform { _ = try $0.person("p") }
            try await linkNewLetter(container, pause: people.pause) { try await people.add("p") }
        }
    }

    /// The deletion chose its queues when it was called, before there was a data source of letters.
    @Test(arguments: [true, false]) func aDeletionThatWaitsTakesANewDataSourceIntoAccount(completes: Bool) async throws
    {
        try await withEmptyGraph { container in
            let people = try container.dataSource(PlainDataSource<Person, Passport>.self)
            try await people.perform { _ = try $0.person("p") }
            let completed = Shared(0)
            var deleting: Task<Void, any Error>?
            try await hold { pause in
                try await people.perform { _ in pause() }
            } meanwhile: {
                let (outcomes, continuation) = AsyncStream.makeStream(of: Result<Void, any Error>.self)
                people.performLater {
                    try $0.delete(Person.self, where: nil)
                } callback: {
                    continuation.yield($0)
                }
                deleting = Task {
                    for await outcome in outcomes { return try outcome.get() }
                }
                if completes {
                    try container.dataSource(CountedLetters.self).called.value = { completed.update { $0 += 1 } }
                } else {
                    _ = try container.dataSource(LetterDataSource.self)
                }
            }
            try await deleting?.value
            #expect(try container.main.count(Person.self) == 0)
            // No letter has changed.
            #expect(completed.value == 0)
        }
    }

    /// The data source is made on main while a batch runs on the queue of another one.
    @Test func theCreationOfADataSourceWaitsForNothing() async throws {
        try await withEmptyGraph { container in
            let people = try container.dataSource(PlainDataSource<Person, Passport>.self)
            var adding: Task<Void, any Error>?
            try await hold { pause in
                try await people.perform { context in
                    try context.delete(Person.self, where: nil)
                    pause()
                }
            } meanwhile: {
                // The batch ends after the creation has returned.
                let letters = try container.dataSource(LetterDataSource.self)
                let stations = try container.dataSource(PlainDataSource<Station>.self)
                // The delete rules of people do not reach stations.
                try await stations.perform { _ = try $0.station("s") }
                adding = Task { try await letters.perform { _ = try $0.letter("l") } }
            }
            try await adding?.value
            #expect(try container.main.count(Letter.self) == 1)
        }
    }
}

/// People whose deletion pauses after the delete rules were applied.
private final class PausedPeople: DataSource<String>, SaveCompleting {
    override class var entities: [ManagedObject.Type] { [Person.self, Passport.self] }

    nonisolated let pause = Shared<(@Sendable () -> Void)?>(nil)

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws { pause.value?() }
}

/// People who are deleted when they are added. The add pauses after the cascades were applied.
private final class PeopleWhoLeave: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Person.self, Passport.self] }

    nonisolated let pause = Shared<(@Sendable () -> Void)?>(nil)

    override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        try context.delete(Person.self, where: \.key == key)
        // A query does not find what the cascades delete.
        if try context.count(Passport.self) > 0 { throw Poison() }
        pause.value?()
        return nil
    }
}

private final class CountedLetters: DataSource<String>, SaveCompleting {
    override class var entities: [ManagedObject.Type] { [Letter.self] }

    nonisolated let called = Shared<(@Sendable () -> Void)?>(nil)

    nonisolated func willSave(_ changes: PendingChanges, in context: PrivateContext) throws { called.value?() }
}
