import ManagedModel
import Testing

/// Each link is kept in one place.
@Suite struct LinkStorageTests {
    private static func relationship(
        _ name: String, _ destination: String, _ inverse: String?, isToMany: Bool = false, isOrdered: Bool = false,
        isTransient: Bool = false
    ) -> RelationshipDescription {
        RelationshipDescription(
            name: name, destinationName: destination, inverseName: inverse, isToMany: isToMany, isOrdered: isOrdered,
            isOptional: true, isTransient: isTransient)
    }

    private static func model(_ one: RelationshipDescription, _ other: RelationshipDescription) -> ManagedObjectModel {
        ManagedObjectModel(
            name: "",
            entities: [
                EntityDescription(name: "A", relationships: [one]),
                EntityDescription(name: "B", relationships: [other]),
            ])
    }

    private static let a = RelationshipName(entity: "A", name: "b")
    private static let b = RelationshipName(entity: "B", name: "a")

    private func columns(_ model: ManagedObjectModel) -> [[String]] {
        model.entities.map { model.columns(of: $0).map(\.name) }
    }

    @Test func aOneToOneLinkIsAColumnOfTheFirstEntity() {
        let model = Self.model(Self.relationship("b", "B", "a"), Self.relationship("a", "A", "b"))
        #expect(model.linkStorage(of: Self.a) == .column)
        #expect(model.linkStorage(of: Self.b) == .inverseColumn(Self.a))
        #expect(columns(model) == [["b"], []])
        #expect(model.entities.map { model.columns(of: $0, format: 1).map(\.name) } == [["b"], ["a"]])
    }

    @Test func aOneToOneLinkInOneEntityIsTheColumnOfTheFirstName() {
        let sides = [Self.relationship("next", "A", "previous"), Self.relationship("previous", "A", "next")]
        for relationships in [sides, sides.reversed()] {
            let model = ManagedObjectModel(
                name: "", entities: [EntityDescription(name: "A", relationships: relationships)])
            let next = RelationshipName(entity: "A", name: "next")
            #expect(model.linkStorage(of: next) == .column)
            #expect(model.linkStorage(of: RelationshipName(entity: "A", name: "previous")) == .inverseColumn(next))
            #expect(columns(model) == [["next"]])
        }
    }

    @Test func aOneToManyLinkIsAColumnOfTheToOneSide() {
        var model = Self.model(Self.relationship("b", "B", "a", isToMany: true), Self.relationship("a", "A", "b"))
        #expect(model.linkStorage(of: Self.a) == .inverseColumn(Self.b))
        #expect(columns(model) == [[], ["a"]])
        model.entities[0].relationships[0].isOrdered = true
        #expect(columns(model) == [[], ["a", "a.position"]])
    }

    @Test func manyToManyAndOneWayToManyUseAJoinTable() {
        let many = Self.relationship("b", "B", "a", isToMany: true)
        var model = Self.model(many, Self.relationship("a", "A", "b", isToMany: true))
        #expect(model.linkStorage(of: Self.a) == .pairs(Self.a, isReversed: false))
        #expect(model.linkStorage(of: Self.b) == .pairs(Self.a, isReversed: true))
        #expect(columns(model) == [[], []])
        model = Self.model(Self.relationship("b", "B", nil, isToMany: true), Self.relationship("a", "A", nil))
        #expect(model.linkStorage(of: Self.a) == .pairs(Self.a, isReversed: false))
        #expect(model.linkStorage(of: Self.b) == .column)
    }

    /// Nothing in a store is about a transient relationship, so one that has it for its inverse is as one without.
    @Test(arguments: [true, false])
    func aTransientInverseIsNone(isToMany: Bool) {
        let transient = Self.relationship("a", "A", "b", isToMany: isToMany, isOrdered: isToMany, isTransient: true)
        var model = Self.model(Self.relationship("b", "B", "a", isToMany: true), transient)
        #expect(model.linkStorage(of: Self.a) == .pairs(Self.a, isReversed: false))
        #expect(model.linkStorage(of: Self.b) == (isToMany ? .none : .column))
        model = Self.model(Self.relationship("b", "B", "a"), transient)
        #expect(model.linkStorage(of: Self.a) == .column)
        #expect(columns(model)[0] == ["b"])
    }

    @Test func aRelationshipThatIsItsOwnInverseIsSeenFromBothEnds() {
        for isToMany in [true, false] {
            let model = ManagedObjectModel(
                name: "",
                entities: [
                    EntityDescription(name: "A", relationships: [Self.relationship("b", "A", "b", isToMany: isToMany)])
                ])
            #expect(model.linkStorage(of: Self.a) == (isToMany ? .pairs(Self.a, isReversed: false) : .column))
        }
    }
}
