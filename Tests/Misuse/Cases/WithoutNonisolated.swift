import CoreDataSource

// In a target that is isolated to the main actor by default, both structs need `nonisolated`. The article IsolationAndTheCompiler
// quotes the errors.

struct Coordinate: Codable, Sendable {
    var latitude = 0.0
}

@StoredEntity final class Place: ManagedObject {
    @Stored(unique: true) var name: String
    @Stored(.codable) var location: Coordinate = Coordinate()
}

struct PlaceData: Sendable {
    var name: String
}

final class Places: KeyedDataSource<PlaceData, Place> {
    nonisolated override class var key: ObjectKey<PlaceData, Place> { ObjectKey(\.name, \.name) }

    nonisolated override func update(_ place: Place, from data: PlaceData, in context: PrivateContext) {}
}
