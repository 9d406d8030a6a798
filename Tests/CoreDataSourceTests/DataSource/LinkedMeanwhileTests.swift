import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// Objects of another data source that are deleted while a batch links to them.
@MainActor
struct LinkedMeanwhileTests {
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
        let (hasLinked, end) = (Gate(), Gate())
        let linking = Task {
            defer { hasLinked.open() }
            try await batch {
                hasLinked.open()
                end.wait()
            }
        }
        let deleting: Task<Void, any Error>
        do {
            defer { end.open() }
            await hasLinked.opened()
            deleting = Task { try await deletion() }
            for _ in 0..<100 { await Task.yield() }
            try await check()
        }
        try await linking.value
        try await deleting.value
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
        let place = try SharedPlace(kind)
        let (one, other) = (try place.open(model: .graph), try place.open(model: .graph))
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
        try await one.close()
        try await other.close()
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
}
