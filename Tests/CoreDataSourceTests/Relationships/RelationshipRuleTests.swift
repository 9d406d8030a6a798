import CoreDataSource
import ErrorExpectations
import TestSupport
import Testing

/// What a check of relationships costs, and what is no change of links.
@MainActor @Suite struct RelationshipRuleTests {
    /// Each keeper may have three animals at most.
    @Test func relationshipsOfManyOwnersAreCountedTogether() async throws {
        try await withGraph { container, source in
            try await source.perform { context in
                for number in 0..<300 {
                    _ = try context.person("\(number)")
                    for other in 0..<3 { _ = try context.cat("\(number) \(other)") }
                }
            }
            let second = try container.dataSource(GraphDataSource.self)
            try await second.perform { $0.forgetObjects() }
            let before = container.statementCount
            try await source.perform { context in
                let people = try context.fetch(Person.self)
                for (number, cat) in try context.fetch(Cat.self).enumerated() { cat.keeper = people[number / 3] }
            }
            // Each row that is written is one.
            #expect(container.statementCount - before < 900 + 20)
            let error = await expectError(.validationFailed) {
                try await source.perform { context in
                    let people = try context.fetch(Person.self)
                    for (number, cat) in try context.fetch(Cat.self).enumerated() { cat.keeper = people[number / 9] }
                }
            }
            #expect(error?.failures.count == 100 && error?.attributeName == "animals")
        }
    }

    /// A sync that leaves updates out rolls them back one by one, which is refused for links that were changed.
    @Test func noLinkInsteadOfNoneIsNoChange() async throws {
        let container = try await PersistentContainer(model: .graph, store: .inMemory)
        let source = try container.dataSource(UnlinkingDataSource.self)
        try await source.add(["a"])
        let report = try await source.sync(["a", "b"], entity: Letter.self, operations: [.insert])
        #expect(report.inserted == 1 && report.skipped == 1)
        try await container.close()
    }

    /// As after another program's write, or after the key of the other data source has dropped what it led to.
    @Test func aRequiredObjectThatIsGoneIsMissedByTheNextEdit() async throws {
        let directory = try TemporaryDirectory()
        try await withGraph(.sqlite(directory.store)) { _, source in
            try await source.perform { try $0.passport("a").holder = try $0.person("Ada") }
            try RawConnection(directory.store).execute("UPDATE Passport SET holder = NULL")
            let error = await expectError(.validationFailed) {
                try await source.perform { try $0.passport("a").key = "b" }
            }
            #expect(error?.attributeName == "holder")
            try await source.perform { context in
                let passport = try context.passport("a")
                passport.key = "b"
                passport.holder = try context.person("Ada")
            }
        }
    }
}

/// Gives each letter another subject, and no topic, reader and partner.
private final class UnlinkingDataSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Letter.self, Topic.self] }

    override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        let letter = try context.letter(key)
        letter.subject += "+"
        letter.topic = nil
        letter.readBy = nil
        return letter
    }
}
