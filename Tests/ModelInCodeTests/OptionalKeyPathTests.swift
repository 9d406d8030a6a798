import CoreDataSource
import Foundation
import TestSupport
import Testing

/// A macro sees only its own class, and not the classes that point to it. So every class has the key paths that begin at an
/// optional object.
@MainActor struct OptionalKeyPathTests {
    @Test func aClassToWhichNoClassPointsHasOptionalKeyPaths() {
        #expect(
            AloneEntity.optionalKeyPaths == [\AloneEntity?.?.name: "title", \AloneEntity?.?.others: "others"]
                as [AnyKeyPath: String])
        #expect(EmptyEntity.optionalKeyPaths.isEmpty)
    }

    @Test func aSubclassHasTheKeyPathsOfItsParentToo() {
        let expected: [AnyKeyPath: String] = [
            \AloneChildEntity?.?.name: "title", \AloneChildEntity?.?.others: "others",
            \AloneChildEntity?.?.age: "age",
        ]
        #expect(AloneChildEntity.optionalKeyPaths == expected)
    }

    /// The macro of a destination never sees the class that points to it.
    @Test func aPredicateLeadsThroughAToOneRelationshipOfAnyClass() async throws {
        let model = ManagedObjectModel("Pointers") {
            AloneEntity.self
            AloneChildEntity.self
            PointerEntity.self
        }
        let container = try await PersistentContainer(model: model, store: .inMemory)
        try await container.dataSource(PointerSource.self).perform { context in
            for name in ["Ann", "Bob"] {
                let child = try context.insert(AloneChildEntity.self)
                (child.name, child.age) = (name, 7)
                let pointer = try context.insert(PointerEntity.self)
                (pointer.child, pointer.target) = (child, name == "Ann" ? child : nil)
            }
        }
        let inherited = FetchPredicate(#Predicate<PointerEntity> { $0.child?.name == "Bob" })
        #expect(try container.main.fetch(ObjectRequest(where: inherited)).map(\.child?.name) == ["Bob"])
        let own = FetchPredicate(#Predicate<PointerEntity> { $0.child?.age == 7 && $0.target?.name == "Ann" })
        #expect(try container.main.fetch(ObjectRequest(where: own)).map(\.target?.name) == ["Ann"])
        try await container.close()
    }
}

@StoredEntity class AloneEntity: ManagedObject {
    @Stored(name: "title") var name: String = ""
    @Related var others: RelatedObjects<AloneEntity>
}

@StoredEntity final class AloneChildEntity: AloneEntity {
    var age: Int?
}

@StoredEntity final class EmptyEntity: ManagedObject {}

@StoredEntity final class PointerEntity: ManagedObject {
    @Related var target: AloneEntity?
    @Related var child: AloneChildEntity?
}

final class PointerSource: EntityDataSource {
    override class var entities: [ManagedObject.Type] { [AloneEntity.self, PointerEntity.self] }
}
