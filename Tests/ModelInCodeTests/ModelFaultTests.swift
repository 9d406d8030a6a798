import CoreDataSource
import ErrorExpectations
import Foundation
import ManagedModel
import Testing

/// What the classes of a model cannot say together is an error with a sentence.
struct ModelFaultTests {
    private func fault(_ model: ManagedObjectModel) -> String? {
        do { try model.validate() } catch { return error.message }
        return nil
    }

    @Test func theModelOfTheFixtureIsValid() {
        #expect(fault(.inCode) == nil)
        #expect(ManagedObjectModel.inCode.composites.map(\.name) == ["Address", "Position"])
        #expect(ManagedObjectModel.inCode.entity(named: "PersonEntity")?.parentName == "ContactEntity")
        #expect(ManagedObjectModel.inCode.entity(named: "Note")?.relationships.first?.inverseName == "notes")
    }

    @Test func aClassWithoutTheMacroIsRefused() {
        let model = ManagedObjectModel("M") { Handwritten.self }
        #expect(fault(model)?.hasPrefix("Handwritten is listed in a model, but has no @StoredEntity.") == true)
        let inherited = ManagedObjectModel("M") { BelowHandwritten.self }
        #expect(
            fault(inherited)?.hasPrefix("BelowHandwritten inherits from Handwritten, which has no @StoredEntity.")
                == true)
    }

    @Test func aParentThatIsNotListedIsRefused() {
        let model = ManagedObjectModel("M") { SpecialItemEntity.self }
        #expect(fault(model)?.contains("has the parent ItemEntity, which does not exist") == true)
    }

    @Test func aDestinationThatIsNotListedIsRefused() {
        let model = ManagedObjectModel("M") { OwnerEntity.self }
        #expect(
            fault(model)?.contains("The destination of OwnerEntity.next is ItemEntity, which does not exist.") == true)
    }

    @Test func twoRelationshipsWithOneInverseAreRefused() {
        let model = ManagedObjectModel("M") {
            HubEntity.self
            SpokeEntity.self
        }
        #expect(fault(model)?.contains("name SpokeEntity.hub as their inverse") == true)
    }

    /// The compiler checks only that an inverse is a relationship of the destination. The model says what the relationship leads
    /// back to.
    @Test func anInverseThatPointsElsewhereIsRefused() async {
        let toAnotherProperty = ManagedObjectModel("M") {
            RoadEntity.self
            TownEntity.self
        }
        let toAnotherEntity = ManagedObjectModel("M") {
            LeafEntity.self
            StemEntity.self
        }
        let advice =
            "which does not point back. Let both relationships name each other, or let neither name an inverse."
        for (model, sentence) in [
            (toAnotherProperty, "The inverse of RoadEntity.start is TownEntity.roads, \(advice)"),
            (toAnotherEntity, "The inverse of LeafEntity.stem is StemEntity.root, \(advice)"),
        ] {
            #expect(fault(model) == sentence)
            let error = await expectError(.unreadableModel) {
                _ = try await PersistentContainer(model: model, store: .inMemory)
            }
            #expect(error?.message == "The model M cannot be used. \(sentence)")
        }
    }

    @Test func twoTypesWithOneNameAreRefused() {
        let composites = ManagedObjectModel("M") {
            OneSpot.self
            OtherSpot.self
        }
        #expect(
            fault(composites)
                == "OneSpot and OtherSpot are both the composite Spot. Give one of the two another name.")
        let used = ManagedObjectModel("M") {
            SpotEntity.self
            OtherSpot.self
        }
        #expect(fault(used)?.hasPrefix("OneSpot and OtherSpot are both the composite Spot.") == true)
        let entities = ManagedObjectModel("M") {
            OneTwin.self
            OtherTwin.self
        }
        #expect(fault(entities) == "Two entities are called Twin. Rename or remove one of the two.")
    }

    @MainActor
    @Test func anEntityThatIsNotListedIsNamed() async throws {
        let container = try await PersistentContainer(model: .mail, store: .inMemory)
        let error = expectError(.unknownEntity) { try container.main.fetch(OwnerEntity.self) }
        #expect(error?.message.contains("List OwnerEntity.self in the ManagedObjectModel") == true)
        try await container.close()
    }

    @Test func aClassOfAnotherModelIsRefusedWhenAContainerOpens() async {
        var model = ManagedObjectModel("M") {
            OwnerEntity.self
            ItemEntity.self
        }
        model.entities[0].attributes.append(AttributeDescription(name: "other", type: .string, isOptional: true))
        let error = await expectError(.unreadableModel) {
            _ = try await PersistentContainer(model: model, store: .inMemory)
        }
        #expect(error?.message.contains("does not match the entity") == true)
    }
}

class Handwritten: ManagedObject {
    override class var entityName: String { "Handwritten" }
}

@StoredEntity final class BelowHandwritten: Handwritten {
    var x: Int?
}

@StoredEntity final class HubEntity: ManagedObject {
    @Related(inverse: "hub") var one: RelatedObjects<SpokeEntity>
    @Related(inverse: "hub") var other: RelatedObjects<SpokeEntity>
}

@StoredEntity final class SpokeEntity: ManagedObject {
    @Related var hub: HubEntity?
}

/// The inverse of `start` names `end` as its inverse.
@StoredEntity final class RoadEntity: ManagedObject {
    @Related(inverse: "roads") var start: TownEntity?
    @Related(inverse: "roads") var end: TownEntity?
}

@StoredEntity final class TownEntity: ManagedObject {
    @Related(inverse: "end") var roads: RelatedObjects<RoadEntity>
}

/// The inverse of `stem` names a `stem` as its inverse, too, but that of another entity.
@StoredEntity final class LeafEntity: ManagedObject {
    @Related(inverse: "root") var stem: StemEntity?
}

@StoredEntity final class StemEntity: ManagedObject {
    @Related(inverse: "root") var stem: StemEntity?
    @Related(inverse: "stem") var root: StemEntity?
}

@StoredComposite("Spot") struct OneSpot: Hashable {
    var x: Int?
}

@StoredComposite("Spot") struct OtherSpot: Hashable {
    var y: Int?
}

@StoredEntity final class SpotEntity: ManagedObject {
    @Stored(.composite) var spot: OneSpot?
}

@StoredEntity("Twin") final class OneTwin: ManagedObject {
    var x: Int?
}

@StoredEntity("Twin") final class OtherTwin: ManagedObject {
    var y: Int?
}
