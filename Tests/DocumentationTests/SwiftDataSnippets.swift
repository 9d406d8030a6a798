import CoreDataSource
import Foundation
import Testing

@StoredEntity final class Trip: ManagedObject {
    @Stored(unique: true) var code: String
    var title: String
    var start: Date
    @Related(inverse: "trip", onDelete: .cascade) var stops: [Stop]
    @Related(inverse: "trips") var tags: RelatedObjects<Tag>
}

@StoredEntity final class Stop: ManagedObject {
    var city: String
    @Related var trip: Trip?
}

@StoredEntity final class Tag: ManagedObject {
    @Stored(unique: true) var name: String
    @Related var trips: RelatedObjects<Trip>
}

nonisolated extension ManagedObjectModel {
    static let trips = ManagedObjectModel("Trips") {
        Trip.self
        Stop.self
        Tag.self
    }
}

final class TripDataSource: DataSource<Never> {
    nonisolated override class var entities: [ManagedObject.Type] {
        [Trip.self, Stop.self, Tag.self]
    }
}

/// The program that ComingFromSwiftData shows in both libraries.
@MainActor
struct SwiftDataSnippets {
    @Test func theProgramOfSwiftDataIsWrittenHere() async throws {
        let now = Date(timeIntervalSinceReferenceDate: 0)
        let container = try await PersistentContainer(
            model: .trips, store: .inMemory)
        let trips = try container.dataSource(TripDataSource.self)

        let id = try await trips.perform { context in
            let trip = try context.insert(Trip.self)
            trip.code = "T1"
            trip.title = "Alps"
            trip.start = now
            let stop = try context.insert(Stop.self)
            stop.city = "Chur"
            trip.stops.append(stop)
            let tag = try context.findOrInsert(
                Tag.self, where: \.name, equals: "snow")
            trip.tags.insert(tag)
            return trip.objectID
        }

        let upcoming = try trips.fetch(
            Trip.self, where: \.start >= now, order: [.ascending(\.start)])
        print(upcoming.map(\.title))
        #expect(upcoming.map(\.title) == ["Alps"] && upcoming.first?.stops.map(\.city) == ["Chur"])

        do {
            let shown = try trips.list(
                ObjectRequest(Trip.self, where: \.objectID == id))
            print(shown.snapshot.first?.title ?? "deleted")
            try await trips.perform { try $0.object(Trip.self, id: id)?.title = "Andes" }
            #expect(shown.snapshot.first?.title == "Andes")
        }

        try await trips.perform { context in
            try context.object(Trip.self, id: id)?.title = "The Alps"
        }
        #expect(upcoming.first?.title == "The Alps")

        try await trips.delete(Trip.self, where: \.code == "T1")
        #expect(try trips.count(Trip.self) == 0 && trips.count(Stop.self) == 0 && trips.count(Tag.self) == 1)
        try await container.close()
    }
}
