import CoreDataSource
import SQLiteStore
import TestSupport

/// Everything of the model Graph.
final class GraphDataSource: DataSource<GraphValue> {
    override class var entities: [ManagedObject.Type] {
        [
            Animal.self, Attachment.self, Folder.self, Label.self, Letter.self, Passport.self, Person.self,
            Station.self, Topic.self, Tour.self,
        ]
    }

    override func onAdd(_ value: GraphValue, in context: PrivateContext) throws -> ManagedObject? {
        try value.add(to: context)
    }
}

/// Topics alone.
final class TopicDataSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Topic.self] }

    override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        try context.findOrInsert(Topic.self, where: \.key, equals: key)
    }

    override func onDelete(_ key: String, in context: PrivateContext) throws {
        try context.delete(Topic.self, where: \.key == key)
    }
}

/// Letters and what belongs to them.
final class LetterDataSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { [Letter.self, Attachment.self] }

    override func onAdd(_ key: String, in context: PrivateContext) throws -> ManagedObject? {
        let letter = try context.findOrInsert(Letter.self, where: \.key, equals: key)
        letter.topic = try context.first(Topic.self, where: \.key, equals: "t")
        return letter
    }

    override func onDelete(_ key: String, in context: PrivateContext) throws {
        try context.delete(Letter.self, where: \.key == key)
    }
}

extension PrivateContext {
    func topic(_ key: String) throws -> Topic { try findOrInsert(Topic.self, where: \.key, equals: key) }
    func letter(_ key: String) throws -> Letter { try findOrInsert(Letter.self, where: \.key, equals: key) }
    func person(_ key: String) throws -> Person { try findOrInsert(Person.self, where: \.key, equals: key) }
    func label(_ key: String) throws -> Label { try findOrInsert(Label.self, where: \.key, equals: key) }
    func folder(_ key: String) throws -> Folder { try findOrInsert(Folder.self, where: \.key, equals: key) }
    func passport(_ key: String) throws -> Passport {
        try findOrInsert(Passport.self, where: \.key, equals: key)
    }

    func cat(_ key: String) throws -> Cat { try findOrInsert(Cat.self, where: \.key, equals: key) }
    func dog(_ key: String) throws -> Dog { try findOrInsert(Dog.self, where: \.key, equals: key) }
    func station(_ key: String) throws -> Station { try findOrInsert(Station.self, where: \.key, equals: key) }
    func tour(_ key: String) throws -> Tour { try findOrInsert(Tour.self, where: \.key, equals: key) }
    func attachment(_ key: String) throws -> Attachment {
        try findOrInsert(Attachment.self, where: \.key, equals: key)
    }
}

extension PersistentContainer {
    /// How many statements the store has run.
    var statementCount: Int { (stack.root.store as? SQLiteStore)?.counters.statementsRun ?? 0 }
}

/// Gives the body a store whose topics and letters belong to two data sources.
@MainActor func withTopicsAndLetters(
    _ body: @MainActor (PersistentContainer, TopicDataSource, LetterDataSource) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let container = try await PersistentContainer(model: .graph, store: .sqlite(directory.store))
    try await body(
        container, try container.dataSource(TopicDataSource.self), try container.dataSource(LetterDataSource.self))
    try await container.close()
}

/// Gives the body a store in memory for the model Graph, which nobody owns yet.
@MainActor func withEmptyGraph(_ body: @MainActor (PersistentContainer) async throws -> Void) async throws {
    let container = try await PersistentContainer(model: .graph, store: .inMemory)
    try await body(container)
    try await container.close()
}

/// Gives the body a store of the model Graph that one data source owns.
@MainActor func withGraph(
    _ location: StoreLocation? = nil,
    _ body: @MainActor (PersistentContainer, GraphDataSource) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory()
    let container = try await PersistentContainer(model: .graph, store: location ?? .sqlite(directory.store))
    try await body(container, try container.dataSource(GraphDataSource.self))
    try await container.close()
}

extension ManagedObjectContext {
    /// The letter of that key, which is there.
    func knownLetter(_ key: String) throws -> Letter {
        guard let letter = try first(Letter.self, where: \.key, equals: key) else { throw Poison() }
        return letter
    }

    /// The person of that key, who is there.
    func knownPerson(_ key: String) throws -> Person {
        guard let person = try first(Person.self, where: \.key, equals: key) else { throw Poison() }
        return person
    }

    /// The topic of that key, which is there.
    func knownTopic(_ key: String) throws -> Topic {
        guard let topic = try first(Topic.self, where: \.key, equals: key) else { throw Poison() }
        return topic
    }
}
