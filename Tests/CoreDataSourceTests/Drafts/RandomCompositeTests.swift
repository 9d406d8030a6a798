import CoreDataSource
import TestSupport
import Testing

@MainActor @Suite struct RandomCompositeTests {
    /// A composite is one value: each edit of it is one step, and its errors are those of its parts.
    @Test func randomCompositeStepsEqualTheReference() async throws {
        let first = testSeed()
        for seed in (0..<UInt64(20)).map({ first &+ $0 }) {
            try await withPlace(street: 5) { draft in
                var random = SeededRandom(seed: seed)
                var (states, undone) = ([State(draft.object)], [State]())
                for step in 0..<60 {
                    switch random.next(below: 8) {
                    case 0, 1:
                        let isPossible = states.count > 1
                        #expect(draft.canUndo == isPossible, "COREDATASOURCE_SEED=\(seed), step \(step)")
                        draft.undo()
                        if isPossible { undone.append(states.removeLast()) }
                    case 2:
                        #expect(draft.canRedo == !undone.isEmpty, "COREDATASOURCE_SEED=\(seed), step \(step)")
                        draft.redo()
                        if let next = undone.popLast() { states.append(next) }
                    default:
                        var next = states[states.count - 1]
                        next.edit(&random)
                        if next == states[states.count - 1] { continue }
                        next.write(to: draft.object, from: states[states.count - 1])
                        states.append(next)
                        undone = []
                    }
                    let state = states[states.count - 1]
                    #expect(State(draft.object) == state, "COREDATASOURCE_SEED=\(seed), step \(step)")
                    let isTooLong = (state.address?.street.utf8.count ?? 0) > 5
                    let errors = draft.errors(of: draft.object, \.address).map(\.attributeName)
                    #expect(errors == (isTooLong ? ["address.street"] : []))
                    #expect(draft.hasChanges == (state != states[0]), "COREDATASOURCE_SEED=\(seed), step \(step)")
                }
            }
        }
    }

    private func withPlace(street longest: Int64, _ body: (Draft<Place>) throws -> Void) async throws {
        var model = ManagedObjectModel.allTypes
        for composite in model.composites.indices where model.composites[composite].name == "Address" {
            for part in model.composites[composite].attributes.indices
            where model.composites[composite].attributes[part].name == "street" {
                model.composites[composite].attributes[part].maximum = .integer(longest)
            }
        }
        let container = try await PersistentContainer(model: model, store: .inMemory)
        let places = try container.dataSource(PlainDataSource<Place>.self)
        try await places.perform { context in
            try context.insert(Place.self).address = Address(class: "Paris", street: "A", tags: ["75000"])
        }
        try body(try places.draft(of: #require(try container.main.first(Place.self))))
        try await container.close()
    }

    private struct State: Equatable {
        var address: Address?
        var latitude = 0.0
        var title: String?

        @MainActor init(_ place: Place) {
            (address, latitude, title) = (place.address, place.origin.latitude, place.title)
        }

        mutating func edit(_ random: inout SeededRandom) {
            func text() -> String { ["", "A", "Rue B", "longer"][random.next(below: 4)] }
            switch random.next(below: 6) {
            case 0: address = nil
            case 1, 2:
                address = Address(
                    class: text(), coordinate: random.next(below: 2) == 0 ? nil : Coordinate(latitude: 1, longitude: 2),
                    street: text(), tags: [text()])
            case 3: address?.street = text()
            case 4: latitude = Double(random.next(below: 3))
            default: title = text()
            }
        }

        @MainActor func write(to place: Place, from before: State) {
            if address != before.address { place.address = address }
            if latitude != before.latitude { place.origin.latitude = latitude }
            if title != before.title, let title { place.title = title }
        }
    }
}
