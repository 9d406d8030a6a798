import CoreDataSource

/// Names are unique among lodgers, children included.
@StoredEntity class Lodger: ManagedObject {
    @Stored(unique: true) var name: String
    var note: String?
    @Related(inverse: "lodgers") var room: LodgeRoom?
    @Related(inverse: "lodgers") var clubs: RelatedObjects<LodgeClub>
    @Related(inverse: "lodger", onDelete: .cascade) var cases: RelatedObjects<Suitcase>
}

@StoredEntity final class ChildLodger: Lodger {
    var age: Int64 = 0
}

@StoredEntity(unique: [["floor", "number"]]) final class LodgeRoom: ManagedObject {
    var floor: Int64 = 0
    var number: Int64 = 0
    var note: String?
    @Related(inverse: "room") var lodgers: RelatedObjects<Lodger>
}

@StoredEntity final class LodgeClub: ManagedObject {
    @Stored(unique: true) var name: String
    @Related(inverse: "clubs", isOptional: false) var lodgers: RelatedObjects<Lodger>
}

/// Needs a lodger.
@StoredEntity final class Suitcase: ManagedObject {
    var color: String = ""
    @Related(inverse: "cases", isOptional: false) var lodger: Lodger?
}

extension ManagedObjectModel {
    static let lodge = ManagedObjectModel("Lodge") {
        Lodger.self
        ChildLodger.self
        LodgeRoom.self
        LodgeClub.self
        Suitcase.self
    }
}

/// Adds lodgers by their names, as a server has them.
final class LodgeSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] {
        [Lodger.self, ChildLodger.self, LodgeRoom.self, LodgeClub.self, Suitcase.self]
    }

    override func onAdd(_ name: String, in context: PrivateContext) throws -> ManagedObject? {
        let lodger = try context.findOrInsert(Lodger.self, where: \.name, equals: name)
        lodger.note = "server"
        return lodger
    }

    /// Saves edits of the author whose steps are undone.
    func edit(_ container: PersistentContainer, _ body: @escaping @Sendable (PrivateContext) throws -> Void)
        async throws
    {
        try await container.withAuthor("me") { try await perform { try body($0) } }
    }
}

extension ManagedObjectContext {
    func lodger(_ name: String) throws -> Lodger {
        guard let lodger = try first(Lodger.self, where: \.name, equals: name) else { throw Poison() }
        return lodger
    }

    func room(_ floor: Int64, _ number: Int64) throws -> LodgeRoom {
        guard let room = try first(LodgeRoom.self, where: \.floor == floor && \.number == number) else {
            throw Poison()
        }
        return room
    }
}
