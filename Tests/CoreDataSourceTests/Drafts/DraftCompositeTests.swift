import CoreDataSource
import TestSupport
import Testing

/// Composite attributes in a draft.
@MainActor @Suite struct DraftCompositeTests {
    private func withPlace(
        _ model: ManagedObjectModel = .allTypes, _ body: (PersistentContainer, Draft<Place>) async throws -> Void
    ) async throws {
        let container = try await PersistentContainer(model: model, store: .inMemory)
        let places = try container.dataSource(PlainDataSource<Place>.self)
        try await places.perform { context in
            let place = try context.insert(Place.self)
            place.address = Address(class: "Paris", street: "Rue A", tags: ["75000"])
        }
        let place = try #require(try container.main.first(Place.self))
        try await body(container, try places.draft(of: place))
        try await container.close()
    }

    @Test func aCompositeIsOneStep() async throws {
        try await withPlace { container, draft in
            let paris = draft.object.address
            let berlin = Address(
                class: "Berlin", coordinate: Coordinate(latitude: 1, longitude: 2), street: "B", tags: ["10115"])
            draft.object.address = berlin
            draft.undo()
            #expect(draft.object.address == paris && !draft.canUndo && !draft.hasChanges)
            draft.redo()
            #expect(draft.object.address == berlin && !draft.canRedo)
            draft.object.address = nil
            draft.object.address?.street = "none"
            draft.undo()
            #expect(draft.object.address == berlin)
            draft.object.origin.latitude = 3
            draft.undo()
            #expect(draft.object.origin.latitude == 0)
            try await draft.save()
            #expect(try container.main.first(Place.self)?.address == berlin)
        }
    }

    @Test func errorsOfACompositeAreThoseOfItsParts() async throws {
        var model = ManagedObjectModel.allTypes
        for composite in model.composites.indices where model.composites[composite].name == "Address" {
            for part in model.composites[composite].attributes.indices
            where model.composites[composite].attributes[part].name == "street" {
                model.composites[composite].attributes[part].maximum = .integer(5)
            }
        }
        try await withPlace(model) { _, draft in
            #expect(draft.errors(of: draft.object, \.address).isEmpty)
            draft.object.address?.street = "longer than five"
            #expect(draft.errors(of: draft.object).map(\.attributeName) == ["address.street"])
            #expect(draft.errors(of: draft.object, \.address).map(\.attributeName) == ["address.street"])
            #expect(draft.errors(of: draft.object, \.title).isEmpty && draft.errors(of: draft.object, \.origin).isEmpty)
        }
    }
}
