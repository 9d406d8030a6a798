import CoreDataSource
import ErrorExpectations
import Foundation
import Testing

/// The parts of composites in predicates, orders, values and aggregates, by their key paths.
@MainActor struct CompositePartTests {
    @StoredComposite struct Country {
        var code: String = ""
        var area: Int?
    }

    @StoredComposite struct Spot {
        @StoredPart(name: "north") var latitude: Double = 0
        var note: String?
        @StoredPart(.composite) var country: Country
        @StoredPart(.composite) var former: Country?
    }

    @StoredEntity class Stop: ManagedObject {
        var name: String = ""
        @Stored(.composite) var exact: Spot
        @Stored(.composite) var place: Spot?
        @Related var next: Stop?
    }

    @StoredEntity final class LongStop: Stop {
        @Stored(.composite) var shelter: Country?
    }

    final class StopSource: EntityDataSource {
        override class var entities: [ManagedObject.Type] { [Stop.self] }
    }

    private static let model = ManagedObjectModel("Stops") {
        Stop.self
        LongStop.self
    }

    private func open(_ place: ReleasePlace?) async throws -> PersistentContainer {
        if let place { return try await place.open(Self.model) }
        return try await PersistentContainer(model: Self.model, store: .inMemory)
    }

    /// Calls the body with stores that have the stops a, b and c: on the disk, on a server if there is one, and in memory.
    private func withStops(_ body: @MainActor (StopSource) async throws -> Void) async throws {
        let places: [ReleasePlace?] = try ReleasePlace.Kind.all.map { try ReleasePlace($0) } + [nil]
        for place in places {
            let container = try await open(place)
            let source = try container.dataSource(StopSource.self)
            try await source.perform { context in
                let stops = try ["a", "b", "c"].enumerated().map { index, name in
                    let stop = index == 2 ? try context.insert(LongStop.self) : try context.insert(Stop.self)
                    stop.name = name
                    stop.exact = Spot(latitude: Double(40 + index), country: Country(code: "\(index)"))
                    return stop
                }
                stops[0].place = Spot(
                    latitude: 1, note: "old", country: Country(code: "FR"), former: Country(code: "XX", area: 7))
                stops[1].place = Spot(latitude: 5, country: Country(code: "DE", area: 3))
                (stops[0].next, stops[1].next) = (stops[1], stops[2])
                (stops[2] as? LongStop)?.shelter = Country(code: "CH")
            }
            try await body(source)
            try await container.close()
        }
    }

    private func names<Object: Stop>(
        _ source: StopSource, _ predicate: FetchPredicate<Object>?, _ order: FetchOrder<Object> = .ascending(\.name)
    ) throws -> String {
        try source.main.fetch(ObjectRequest(where: predicate, order: [order])).map(\.name).joined()
    }

    @Test func aPredicateComparesAPart() async throws {
        try await withStops { source throws in
            #expect(try names(source, \Stop.exact.latitude > 40) == "bc")
            #expect(try names(source, \Stop.place?.latitude > 1) == "b")
            #expect(try names(source, \Stop.place?.latitude == nil) == "c")
            #expect(try names(source, \Stop.place!.latitude < 5) == "a")
            #expect(try names(source, .contains(\Stop.place?.note, "ol")) == "a")
            #expect(try names(source, .isIn(\Stop.exact.latitude, 41..<42)) == "b")
            #expect(try names(source, .isIn(\Stop.place?.latitude, [1, 2])) == "a")
            #expect(try names(source, \LongStop.exact.latitude == 42) == "c")
            let isSheltered: FetchPredicate<LongStop> = \.shelter?.code == "CH"
            #expect(try names(source, isSheltered) == "c")
            #expect(try source.main.first(Stop.self, where: \.exact.latitude, equals: 41)?.name == "b")
            let isNorth: FetchPredicate<Stop> = \.place?.latitude > 1
            #expect(isNorth.predicateFormat == "place.north > 1.0")
        }
    }

    @Test func aPredicateComparesAPartOfACompositeInAComposite() async throws {
        try await withStops { source throws in
            #expect(try names(source, \Stop.exact.country.code == "1") == "b")
            #expect(try names(source, \Stop.place!.country.code == "FR") == "a")
            #expect(try names(source, \Stop.place?.former?.area == 7) == "a")
            #expect(try names(source, \Stop.exact.former?.code == nil) == "abc")
        }
    }

    @Test func aPredicateComparesAPartOfARelatedObject() async throws {
        try await withStops { source throws in
            #expect(try names(source, \Stop.next?.place?.latitude == 5) == "a")
            #expect(try names(source, \Stop.next!.exact.latitude == 42) == "b")
            #expect(try names(source, \Stop.next?.place?.former == nil) == "abc")
        }
    }

    @Test func aCompositeIsNilIfAllOfItsPartsAreNil() async throws {
        try await withStops { source throws in
            #expect(try names(source, \Stop.place == nil) == "c")
            #expect(try names(source, \Stop.place != nil) == "ab")
            #expect(try names(source, \Stop.place?.former == nil) == "bc")
            #expect(try names(source, \Stop.next?.place == nil) == "bc")
            #expect(try names(source, FetchPredicate<Stop>(format: "place == nil")) == "c")
            #expect(try names(source, FetchPredicate<Stop>(#Predicate { $0.place == nil })) == "c")
            let isUnplaced: FetchPredicate<Stop> = \.place == nil
            #expect(try names(source, FetchPredicate<Stop>(format: isUnplaced.predicateFormat)) == "c")
        }
    }

    @Test func anOrderUsesAPart() async throws {
        try await withStops { source throws in
            #expect(try names(source, nil, .descending(\Stop.exact.latitude)) == "cba")
            #expect(try names(source, nil, .ascending(\Stop.place?.latitude)) == "cab")
            #expect(try names(source, nil, FetchOrder(SortDescriptor(\Stop.exact.latitude, order: .reverse))) == "cba")
        }
    }

    @Test func valuesAndAggregatesUseAPart() async throws {
        try await withStops { source throws in
            let request = ObjectRequest(Stop.self, order: [.ascending(\.name)])
            #expect(try source.main.values(request, \.exact.latitude) == [40, 41, 42])
            #expect(try source.main.values(request, \.place?.latitude) == [1, 5, nil])
            let (greatest, sum, count) = try source.main.aggregate(
                request, .max(\.exact.latitude), .sum(\Stop.place?.latitude), .count(\Stop.place?.latitude))
            #expect(greatest == 42 && sum == 6 && count == 2)
            let groups = try source.main.aggregate(request, groupBy: \.exact.country.code, .count())
            #expect(groups.map(\.0).sorted() == ["0", "1", "2"])
        }
    }

    /// A list evaluates its predicate and its order on rows in memory.
    @Test func aListFollowsAPart() async throws {
        try await withStops { source throws in
            let list = try source.list(
                ObjectRequest(
                    Stop.self, where: \.place != nil && \.exact.latitude > 40, order: [.descending(\.place?.latitude)]))
            #expect(list.snapshot.map(\.name) == ["b"])
            let sections = try source.list(
                ObjectRequest(Stop.self, order: [.ascending(\.exact.country.code)]), sectionBy: \.exact.country.code)
            #expect(sections.sections.map(\.name) == ["0", "1", "2"])
            try await source.perform { context in
                for stop in try context.fetch(ObjectRequest(Stop.self)) {
                    stop.place = stop.exact
                }
            }
            #expect(list.snapshot.map(\.name) == ["c", "b"])
            try await source.perform { context in
                try context.first(Stop.self, where: \.name, equals: "c")?.place = nil
            }
            #expect(list.snapshot.map(\.name) == ["b"])
        }
    }

    /// A draft evaluates the predicate on its edits, and a pinned context on rows of the past.
    @Test func aDraftAndAPinFindAPart() async throws {
        try await withStops { source throws in
            let b = try #require(try source.main.first(Stop.self, where: \.name, equals: "b"))
            let draft = try source.draft(of: b)
            draft.object.exact.latitude = 90
            draft.object.place = nil
            let isNorth: FetchPredicate<Stop> = \.exact.latitude > 80
            let isUnplaced: FetchPredicate<Stop> = \.place == nil
            #expect(try draft.context.fetch(Stop.self, where: isNorth).map(\.name) == ["b"])
            #expect(try draft.context.count(Stop.self, where: isUnplaced) == 2)
            #expect(try source.main.count(Stop.self, where: isUnplaced) == 1)
            try source.main.pin(for: .seconds(600))
            try await draft.save()
            #expect(try source.main.count(Stop.self, where: isNorth) == 0)
            #expect(try source.main.count(Stop.self, where: isUnplaced) == 1)
            try source.main.advance()
            #expect(try source.main.count(Stop.self, where: isNorth) == 1)
            #expect(try source.main.count(Stop.self, where: isUnplaced) == 2)
        }
    }

    /// A key path that ends with the composite is optional, so the rest cannot be appended as it was written.
    @Test func theErrorForAPartBehindAnOptionalSaysWhatToWrite() async throws {
        try await withStops { source throws in
            let predicates: [FetchPredicate<Stop>] = [
                \Stop.next?.exact.latitude > 1, \Stop.next?.exact.former?.area == 7,
            ]
            for predicate in predicates {
                let error = expectError(.unsupportedQuery) { try names(source, predicate) }
                let message = error?.message ?? ""
                #expect(message.contains("composite \"next.exact\"") && message.contains("Write ! instead of ?"))
                #expect(error?.attributeName?.hasPrefix("next.exact.") == true)
            }
            let error = expectError(.unsupportedQuery) { try names(source, \Stop.place?.country.code == "FR") }
            #expect(error?.message.contains("format: \"place.country.code == %@\"") == true)
            #expect(try names(source, FetchPredicate<Stop>(format: "place.country.code == %@", "FR")) == "a")
        }
    }
}
