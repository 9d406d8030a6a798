import CoreDataSource
import TestSupport
import Testing

/// The parts of composites in predicates and orders of a class that is generated from a bundle.
@MainActor struct GeneratedCompositeTests {
    @Test func theKeyPathOfAPartIsFoundInAGeneratedClass() async throws {
        let directory = try TemporaryDirectory()
        let container = try await PersistentContainer(model: .allTypes, store: .sqlite(directory.store))
        let places = try container.dataSource(PlainDataSource<Place>.self)
        try await places.perform { context in
            for number in 0..<3 {
                let place = try context.insert(Place.self)
                place.title = "\(number)"
                place.origin.latitude = Double(number)
                if number > 0 {
                    place.address = Address(
                        class: "c\(number)", coordinate: number > 1 ? Coordinate(latitude: 7, longitude: 8) : nil,
                        street: "s\(number)")
                }
            }
        }
        func titles(_ predicate: FetchPredicate<Place>) throws -> [String] {
            let request = ObjectRequest(where: predicate, order: [.descending(\Place.origin.latitude)])
            return try container.main.fetch(request).map(\.title)
        }
        #expect(try titles(\.origin.latitude >= 1) == ["2", "1"])
        #expect(try titles(\.address?.street == "s1") == ["1"])
        #expect(try titles(\.address?.class != nil) == ["2", "1"])
        #expect(try titles(\.address?.coordinate?.latitude == 7) == ["2"])
        #expect(try titles(\.address == nil) == ["0"])
        #expect(try titles(\.address?.coordinate == nil) == ["1", "0"])
        let east = try container.main.aggregate(
            ObjectRequest(Place.self), .max(\Place.address?.coordinate?.longitude))
        #expect(east == 8)
        try await container.close()
    }
}
