import CoreDataSource
import ErrorExpectations
import QueryLanguage
import RowStore
import TestSupport
import Testing

/// A store of an earlier release has canonical strings that were folded in another way. The changelog says how to calculate them
/// again.
@MainActor @Suite struct OldCanonicalTests {
    private typealias Entry = CanonicalEntry

    private nonisolated static func model(_ expression: String, isUnique: Bool = false) -> ManagedObjectModel {
        let search = AttributeDescription(
            name: "search", type: .string, isOptional: true, derivationExpression: expression, isIndexed: true)
        return .canonical([search], unique: isUnique ? [["search"]] : [])
    }

    private func open(_ place: SharedPlace, _ model: ManagedObjectModel) throws -> PersistentContainer {
        try place.open(
            model: model, configuration: .init(synchronous: .normal, resetPolicy: .migrate(otherwise: .fail)))
    }

    private func add(_ titles: [String], _ place: SharedPlace, _ model: ManagedObjectModel) async throws {
        let container = try open(place, model)
        let entries = try container.dataSource(PlainDataSource<Entry>.self)
        try await entries.perform { context in
            for title in titles { try context.insert(Entry.self).setAttribute(title, at: 0) }
        }
        try await container.close()
    }

    /// How many objects each string finds if a user types it.
    private func counts(_ typed: [String], _ container: PersistentContainer) throws -> [Int] {
        try typed.map { string in
            let isEqual = PredicateTree.Node.compare(
                .keyPath(["search"]), .equal, .constant(.text(string)), [.caseInsensitive, .diacriticInsensitive])
            return try container.main.count(Entry.self, where: FetchPredicate(isEqual))
        }
    }

    @Test(arguments: SharedPlace.Kind.all)
    func anExpressionWithSpacesCalculatesOldStringsAgain(kind: SharedPlace.Kind) async throws {
        let place = try SharedPlace(kind)
        let (old, new) = (Self.model("canonical:(title)"), Self.model("canonical:( title )"))
        let titles = ["한국", "أحمد", "Éclair"]
        try await add(titles, place, old)
        // Foundation's folding kept syllables and hamzas.
        try place.run("UPDATE \"Entry\" SET \"search\" = \"title\" WHERE \"title\" <> 'Éclair'")
        let before = try open(place, old)
        #expect(try counts(titles, before) == [0, 0, 1])
        try await before.close()
        let after = try open(place, new)
        #expect(after.startup.migration?.rowsCarried == 3 && !after.startup.isReset)
        #expect(try counts(titles + ["ÉCLAIR", "احمد"], after) == [1, 1, 1, 1, 1])
        try await after.close()
        let again = try open(place, new)
        #expect(again.startup.reason == .current)
        #expect(try counts(titles, again) == [1, 1, 1])
        try await again.close()
    }

    /// Two strings that were folded to different strings before.
    @Test(arguments: SharedPlace.Kind.all)
    func stringsThatAreNoLongerUniqueAreKept(kind: SharedPlace.Kind) async throws {
        let place = try SharedPlace(kind)
        let old = Self.model("canonical:(title)", isUnique: true)
        try await add(["أحمد", "b"], place, old)
        try place.run("UPDATE \"Entry\" SET \"search\" = \"title\"")
        try place.run("UPDATE \"Entry\" SET \"title\" = 'احمد', \"search\" = 'احمد' WHERE \"title\" = 'b'")
        let error = expectError(.modelChanged) { try open(place, Self.model("canonical:( title )", isUnique: true)) }
        #expect(error?.cause?.contains("same search") == true, "\(error?.cause ?? "")")
        let container = try open(place, old)
        #expect(try container.main.count(Entry.self) == 2)
        try await container.close()
    }
}
