import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// A release adds parts with default values or initial values to composites.
@MainActor
struct CompositeMigrationTests {
    private static let history = KeptHistory.kept(for: .seconds(3600), upTo: 1 << 20)

    /// Makes a store with three stops: one without a place, one with a place, and one whose place has a former country.
    private func makeStops(_ place: ReleasePlace) async throws {
        let container = try await place.open(FirstStops.model)
        try await container.dataSource(FirstStops.Source.self).perform { context in
            for (index, name) in ["a", "b", "c"].enumerated() {
                let stop = try context.insert(FirstStops.Stop.self)
                stop.name = name
                stop.exact = FirstStops.Spot(latitude: Double(index))
                let former = index == 2 ? FirstStops.Country(code: "XX") : nil
                if index > 0 { stop.place = FirstStops.Spot(latitude: Double(index), former: former) }
            }
        }
        try await container.close()
    }

    @Test(arguments: ReleasePlace.Kind.all)
    func aNewPartGetsItsDefaultValueUnlessTheCompositeIsNil(kind: ReleasePlace.Kind) async throws {
        let place = try ReleasePlace(kind)
        try await makeStops(place)
        let start = Date()
        let container = try await place.open(SecondStops.model, .migrate(otherwise: .fail))
        #expect(container.startup.migration?.rowsCarried == 3)
        let main = container.main
        let stops = try main.fetch(SecondStops.Stop.self, order: [.ascending(\.name)])
        #expect(stops.map { $0.exact.height } == [3, 3, 3])
        #expect(stops.map { $0.place?.height } == [nil, 3, 3] && stops.map { $0.place?.latitude } == [nil, 1, 2])
        #expect(stops.map { $0.place?.former?.area } == [nil, nil, 7] && stops[2].place?.former?.code == "XX")
        // The store has the values, too.
        let (isUnplaced, isHigh): (FetchPredicate<SecondStops.Stop>, FetchPredicate<SecondStops.Stop>) = (
            \.place == nil, \.place?.height == 3
        )
        #expect(try main.count(SecondStops.Stop.self, where: isUnplaced) == 1)
        #expect(try main.count(SecondStops.Stop.self, where: isHigh) == 2)
        #expect(try main.count(SecondStops.Stop.self, where: \.place?.former == nil) == 2)
        // The initial values that are evaluated are stored, too.
        let seen = stops.map { $0.place?.seenAt }
        #expect(seen[0] == nil && seen[1] == seen[2] && stops.allSatisfy { $0.exact.seenAt >= start })
        #expect(stops.map { $0.place?.former?.mottos } == [nil, nil, ["none"]])
        let (isSeen, isSeenExactly): (FetchPredicate<SecondStops.Stop>, FetchPredicate<SecondStops.Stop>) = (
            \.place?.seenAt >= start, \.exact.seenAt >= start
        )
        #expect(try main.count(SecondStops.Stop.self, where: isSeen) == 2)
        #expect(try main.count(SecondStops.Stop.self, where: isSeenExactly) == 3)
        // A new object has no place.
        try await container.dataSource(SecondStops.Source.self).perform { context in
            try context.insert(SecondStops.Stop.self).name = "d"
        }
        #expect(try main.count(SecondStops.Stop.self, where: isUnplaced) == 2)
        try await container.close()
    }

    /// The records of deletions have no values of parts that a later release has added.
    @Test(arguments: ReleasePlace.Kind.all)
    func undoneDeletionsFromBeforeTheMigrationGetTheValuesOfNewParts(kind: ReleasePlace.Kind) async throws {
        let place = try ReleasePlace(kind)
        try await makeStops(place)
        let first = try await place.open(FirstStops.model, history: Self.history)
        try await first.withAuthor("user") {
            let source = try first.dataSource(FirstStops.Source.self)
            for name in ["a", "b", "c"] { _ = try await source.delete(FirstStops.Stop.self, where: \.name == name) }
        }
        try await first.close()
        let start = Date()
        let second = try await place.open(SecondStops.model, .migrate(otherwise: .fail), history: Self.history)
        _ = try second.dataSource(SecondStops.Source.self)
        for _ in 0..<3 { _ = try await second.undo(author: "user") }
        let stops = try second.main.fetch(SecondStops.Stop.self, order: [.ascending(\.name)])
        #expect(stops.map { $0.place?.latitude } == [nil, 1, 2] && stops.map { $0.place?.height } == [nil, 3, 3])
        #expect(stops.map { $0.place?.former?.area } == [nil, nil, 7])
        let isSeen: FetchPredicate<SecondStops.Stop> = \.place?.seenAt >= start
        #expect(try second.main.count(SecondStops.Stop.self, where: isSeen) == 2)
        #expect(try second.main.count(SecondStops.Stop.self, where: \.place?.former == nil) == 2)
        try await second.close()
    }
}

private enum FirstStops {
    @StoredComposite("Country") struct Country {
        var code: String = ""
    }

    @StoredComposite("Spot") struct Spot {
        var latitude: Double = 0
        @StoredPart(.composite) var former: Country?
    }

    @StoredEntity("Stop") final class Stop: ManagedObject {
        var name: String = ""
        @Stored(.composite) var exact: Spot
        @Stored(.composite) var place: Spot?
    }

    static let model = ManagedObjectModel("Stops") { Stop.self }

    final class Source: EntityDataSource {
        override class var entities: [ManagedObject.Type] { [Stop.self] }
    }
}

/// Adds a part to each composite.
private enum SecondStops {
    @StoredComposite("Country") struct Country {
        var code: String = ""
        var area: Int = 7
        @StoredPart(.codable) var mottos: [String] = ["none"]
    }

    @StoredComposite("Spot") struct Spot {
        var latitude: Double = 0
        var height: Double = 3
        var seenAt: Date = Date()
        @StoredPart(.composite) var former: Country?
    }

    @StoredEntity("Stop") final class Stop: ManagedObject {
        var name: String = ""
        @Stored(.composite) var exact: Spot
        @Stored(.composite) var place: Spot?
    }

    static let model = ManagedObjectModel("Stops") { Stop.self }

    final class Source: EntityDataSource {
        override class var entities: [ManagedObject.Type] { [Stop.self] }
    }
}
