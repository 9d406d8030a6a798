#if PostgreSQL
import CoreDataSource
import QueryLanguage
import TestSupport
import Testing

/// An entity with the indexes that help some requests.
@StoredEntity(
    indexes: [
        FetchIndexDescription(
            name: "byBoxAndDate",
            elements: [.init(property: "box"), .init(property: "date", isAscending: false)])
    ])
final class Postcard: ManagedObject {
    @Stored(unique: true) var code: String
    @Stored(indexed: true) var name: String = ""
    @Stored(indexed: true, derived: "canonical:(name)") var search: String?
    @Stored(indexed: true) var number: Int64 = 0
    var box: Int64 = 0
    var date: Double = 0
    var weight: Int64 = 0
    var text: String = ""
    @Related(inverse: "postcards") var sender: Correspondent?
}

/// An entity without indexes of its own.
@StoredEntity
final class Correspondent: ManagedObject {
    var city: String = ""
    var age: Int64 = 0
    @Related(inverse: "sender") var postcards: RelatedObjects<Postcard>
}

/// A server gives the same warnings as a file, for tables of any size.
@MainActor
@Suite(
    .enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed; Scripts/prepare --postgresql installs it.")
)
struct ServerPlanTests {
    private static let model = ManagedObjectModel("Postcards") {
        Postcard.self
        Correspondent.self
    }

    /// Runs the body with a file and with a server, each with this many rows.
    private func withLetters(
        _ count: Int, _ places: [HistoryPlace] = [.sqlite, .server],
        _ body: @MainActor (PlainDataSource<Postcard, Correspondent>, HistoryPlace) async throws -> Void
    ) async throws {
        for place in places {
            try await place.withContainer(model: Self.model) { container, _ in
                let letters = try container.dataSource(PlainDataSource<Postcard, Correspondent>.self)
                try await letters.perform { context in
                    for number in 0..<count {
                        let letter = try context.insert(Postcard.self)
                        (letter.code, letter.name, letter.text) = ("c\(number)", "name \(number)", "text \(number)")
                        (letter.number, letter.weight) = (Int64(number), Int64(number))
                        (letter.box, letter.date) = (Int64(number % 7), Double(number))
                        letter.sender = try context.insert(Correspondent.self)
                    }
                }
                try await body(letters, place)
            }
        }
    }

    private func warnings(
        _ letters: PlainDataSource<Postcard, Correspondent>, _ predicate: FetchPredicate<Postcard>?,
        _ order: [FetchOrder<Postcard>] = []
    ) throws -> [String] {
        try letters.main.explain(ObjectRequest(Postcard.self, where: predicate, order: order)).warnings
    }

    /// The number of rows decides whether a server uses its indexes, but not what an index could do.
    @Test(arguments: [0, 3, 400])
    func theSameSentencesAreOfAFileAndOfAServer(_ count: Int) async throws {
        try await withLetters(count) { letters, place in
            /// - Parameter expected: The beginnings of the warnings.
            @MainActor func check(
                _ predicate: FetchPredicate<Postcard>?, order: [FetchOrder<Postcard>] = [],
                expects expected: [String] = []
            ) throws {
                let found = try warnings(letters, predicate, order)
                let isEqual = found.count == expected.count && zip(found, expected).allSatisfy { $0.hasPrefix($1) }
                #expect(isEqual, "\(place), \(expected): \(found)")
            }
            try check(nil)
            try check(\.code == "c1")
            try check(\.name == "name 1")
            try check(.equal(\.search, "NAME 7", [.caseInsensitive, .diacriticInsensitive]))
            try check(.isIn(\.name, ["name 1", "name 2"]))
            try check(\.number > 390)
            try check(nil, order: [.ascending(\.number)])
            try check(\.box == 1, order: [.descending(\.date)])
            try check(\.number == 1, order: [.ascending(\.number)])
            // An index has the order, except of rows with the same number.
            try check(\.number > 390, order: [.descending(\.number)])
            try check(\.number > 390, order: [.ascending(\.number), .ascending(\.weight)])
            let lookUp = "is looked up by its value but has neither a uniqueness constraint nor a fetch index"
            let sort = "All matching rows of Postcard are sorted before the first row is returned. Add a fetch index "
            try check(\.weight == 3, expects: ["Postcard.weight " + lookUp])
            try check(\.weight > 3, expects: ["Every row of Postcard is read."])
            try check(nil, order: [.ascending(\.weight)], expects: [sort + "on weight."])
            try check(
                \.number == 1, order: [.ascending(\.date)],
                expects: [sort + "with these elements, in this order: number, date."])
            try check(
                \.date == 3, order: [.ascending(\.weight)],
                expects: ["Postcard.date " + lookUp, sort + "with these elements, in this order: date, weight."])
            // A database can read an index backwards, so directions matter only if they differ.
            try check(
                nil, order: [.descending(\.weight), .descending(\.date)],
                expects: [sort + "with these elements, in this order: weight, date."])
            try check(
                nil, order: [.descending(\.weight), .ascending(\.date)],
                expects: [sort + "with these elements, in this order: weight descending, date ascending."])
            try check(
                \.number == 1, order: [.ascending(\.date), .descending(\.weight)],
                expects: [sort + "with these elements, in this order: number, date ascending, weight descending."])
        }
    }

    /// A server can read the rows of either table: its advice is the same.
    @Test(arguments: [0, 3, 400])
    func aScanForRelatedRowsNamesTheEntityThatNeedsAnIndex(_ count: Int) async throws {
        try await withLetters(count) { letters, place in
            /// - Parameter advice: The end of the only warning.
            @MainActor func check<Object: ManagedObject>(
                _ predicate: FetchPredicate<Object>, scans entity: String, _ advice: String
            ) throws {
                let found = try letters.main.explain(ObjectRequest(Object.self, where: predicate)).warnings
                #expect(found.count == 1 && found[0].hasSuffix(advice), "\(place): \(found)")
                guard place == .sqlite else { return }
                #expect(found == ["Every row of \(entity) is read for " + advice])
            }
            let city: FetchPredicate<Postcard> = \.sender?.city == "Bern"
            try check(city, scans: "Correspondent", "sender.city. Add a fetch index on city to Correspondent.")
            let compare =
                "Compare an indexed attribute of Correspondent with ==, <, > or IN, or add a fetch index to Correspondent."
            let age: FetchPredicate<Postcard> = \.sender?.age > 30
            try check(age, scans: "Correspondent", "sender.age. " + compare)
            let weight: FetchPredicate<Correspondent> = .any(\.postcards, \.weight == 3)
            try check(weight, scans: "Postcard", "postcards.weight. Add a fetch index on weight to Postcard.")
            let number: FetchPredicate<Correspondent> = .any(\.postcards, \.number == 3)
            #expect(
                try letters.main.explain(ObjectRequest(Correspondent.self, where: number)).warnings.isEmpty, "\(place)")
        }
    }

    /// The advice names no index that the model has.
    @Test(arguments: [0, 3, 400])
    func anIndexThatTheModelHasIsNotRecommended(_ count: Int) async throws {
        try await withLetters(count) { letters, place in
            let numbers: FetchPredicate<Postcard> = .isIn(\.number, [1, 2])
            let sorted = "All matching rows of Postcard are sorted before the first row is returned. "
            let used =
                "is not used, because the predicate finds the rows in another way. If many rows match, narrow the predicate."
            for isAscending in [true, false] {
                let order: [FetchOrder<Postcard>] =
                    isAscending
                    ? [.ascending(\.box), .descending(\.date)] : [.descending(\.box), .ascending(\.date)]
                let found = try warnings(letters, numbers, order)
                #expect(found == [sorted + "The index on box, date " + used], "\(place)")
            }
            // The index has another order.
            let other = try warnings(letters, numbers, [.ascending(\.box), .ascending(\.date)])
            let advice = "Add a fetch index with these elements, in this order: box, date."
            // A server can sort the rows of each box.
            #expect(other == [sorted + advice] || place == .server, "\(other)")
        }
    }

    /// The rows come by their keys, in no order that an index has.
    @Test func noIndexSortsRowsThatAreFoundThroughRelatedObjects() async throws {
        try await withLetters(3, [.sqlite]) { letters, _ in
            let sorted = "All matching rows of Correspondent are sorted before the first row is returned. "
            let advice =
                "No index can prevent this, because the predicate finds the rows through related objects. If many rows match, narrow the predicate."
            let predicate: FetchPredicate<Correspondent> = .any(\.postcards, \.number == 3)
            let request = ObjectRequest(Correspondent.self, where: predicate, order: [.ascending(\.age)])
            let explanation = try letters.main.explain(request)
            #expect(explanation.warnings == [sorted + advice], "\(explanation.steps)")
        }
    }

    /// An index of the fetched entity does not find the related rows.
    @Test func aFileReadsAllRelatedRowsAlthoughAnotherPartHasAnIndex() async throws {
        try await withLetters(3, [.sqlite]) { letters, _ in
            let found = try warnings(letters, \.number > 390 && \.sender?.city == "Bern")
            #expect(
                found == [
                    "Every row of Correspondent is read for sender.city. Add a fetch index on city to Correspondent."
                ])
        }
    }

    /// A file can find a prefix and an order of strings by an index.
    @Test func aServerSaysWhatItsIndexesLack() async throws {
        try await withLetters(50, [.server]) { letters, _ in
            let prefix = try warnings(letters, .beginsWith(\.name, "name 1"))
            #expect(
                prefix.count == 1 && prefix[0].hasSuffix("the fetch index of a string finds only equal strings."),
                "\(prefix)"
            )
            let order = try warnings(letters, nil, [.ascending(\.name)])
            #expect(order.count == 1 && order[0].contains("a server has no ordered index of strings"), "\(order)")
            let outside = try warnings(letters, \.number == 1 && .contains(\.text, "X", [.caseInsensitive]))
            #expect(
                outside.count == 1
                    && outside[0].hasPrefix("A part of the predicate is evaluated outside of the database"),
                "\(outside)")
            #expect(outside.first?.contains("(text)") == true)
        }
    }

    /// The settings of an explanation end with it.
    @Test func laterReadsOfTheTransactionArePlannedAsUsual() async throws {
        try await withLetters(3, [.server]) { letters, _ in
            let request = ObjectRequest(Postcard.self, where: \.weight == 1, order: [.ascending(\.weight)])
            let steps = try letters.main.explain(request).steps
            let again = try await letters.perform { context in
                _ = try context.explain(request)
                return try context.explain(request).steps
            }
            #expect(again == steps)
            #expect(try letters.fetch(request).map(\.code) == ["c1"])
        }
    }
}
#endif
