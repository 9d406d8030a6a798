import CoreDataSource
import Foundation
import QueryLanguage
import RowStore
import TestSupport
import Testing

/// Strings that a user types find canonical strings by their index.
@MainActor
struct CanonicalSearchTests {
    private typealias Entry = CanonicalEntry

    /// `search` is canonical. `plain` has the same values, but the library does not know that they are canonical. So a
    /// predicate about `plain` is evaluated as it was written.
    private nonisolated static let model: ManagedObjectModel = {
        func derived(_ name: String, _ expression: String, _ value: AttributeValue? = nil) -> AttributeDescription {
            AttributeDescription(
                name: name, type: .string, isOptional: true, defaultValue: value, derivationExpression: expression,
                isIndexed: name == "search")
        }
        return .canonical([
            derived("search", "canonical:(title)"), derived("plain", "search"),
            derived("named", "canonical:(title)", .string("New")),
        ])
    }()

    private nonisolated static let places = HistoryPlace.all.filter { [.memory, .sqlite, .server].contains($0) }
    private nonisolated static let insensitive: StringOptions = [.caseInsensitive, .diacriticInsensitive]

    /// Pieces of strings. Some are equal without case and marks, and some have marks that other foldings keep.
    private nonisolated static let pieces = [
        "", " ", "a", "A", "b", "É", "e\u{301}", "\u{301}", "\u{323}", "\u{345}", "ß", "ẞ", "SS", "ss", "İ", "i", "ı",
        "I",
        "ﬁ", "FI", "ς", "σ", "Σ", "ᾳ", "ΑΙ", "Å", "\u{212B}", "K", "\u{212A}", "ø", "Ł", "Ж", "й", "ё",
        "أ", "ا", "\u{627}\u{653}", "آ", "ؤ", "\u{64B}", "\u{897}", "हि", "न्दी", "\u{958}", "\u{915}\u{93C}", "ক", "কো",
        "ދި", "ก็", "한", "하", "\u{1112}\u{1161}\u{11AB}", "\u{1112}\u{1161}", "\u{F940}", "\u{9E7F}", "が", "か\u{3099}",
        "👩‍👩‍👧", "\u{34F}", "\u{200D}", "\u{1F1E6}\u{1F1E7}", "𝒜", "\u{10400}", "\u{10428}", "\u{378}", "\u{10FFFF}",
    ]

    private nonisolated static func string(_ random: inout SeededRandom) -> String {
        (0...random.next(below: 3)).map { _ in
            guard random.next(below: 6) == 0 else { return pieces[random.next(below: pieces.count)] }
            let scalar = Unicode.Scalar(UInt32(1 + random.next(below: random.next(below: 2) == 0 ? 0x3000 : 0x10FFFF)))
            return scalar.map { String($0) } ?? "x"
        }.joined()
    }

    private nonisolated static func node(
        _ name: String, _ form: Int, _ typed: (String, String), options: StringOptions = insensitive
    ) -> PredicateTree.Node {
        let (path, one) = (FetchExpression.keyPath([name]), FetchExpression.constant(.text(typed.0)))
        let other = FetchExpression.constant(.text(typed.1))
        let relations: [ComparisonOperator] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
        switch form {
        case 0..<6: return .compare(path, relations[form], one, options)
        case 6: return .compare(one, .less, path, options)
        case 7: return .text(path, .beginsWith, one, options)
        case 8: return .text(path, .contains, one, options)
        case 9: return .text(path, .endsWith, one, options)
        case 10: return .isIn(path, .list([one, other, .constant(.null)]), options)
        case 11: return .between(path, one, other, options)
        default: return .not(.text(path, .beginsWith, one, options))
        }
    }

    private func withEntries(
        _ place: HistoryPlace, _ titles: [String], _ body: @MainActor (PlainDataSource<Entry>) async throws -> Void
    ) async throws {
        try await place.withContainer(model: Self.model) { container, _ in
            let entries = try container.dataSource(PlainDataSource<Entry>.self)
            try await entries.perform { context in
                _ = try context.insert(Entry.self)
                for title in titles { try context.insert(Entry.self).setAttribute(title, at: 0) }
            }
            try await body(entries)
        }
    }

    @Test(arguments: places)
    func aRewrittenComparisonFindsTheSameRows(_ place: HistoryPlace) async throws {
        let seed = testSeed()
        print("CanonicalSearchTests: COREDATASOURCE_SEED=\(seed)")
        var random = SeededRandom(seed: seed)
        let titles = Self.pieces + (0..<150).map { _ in Self.string(&random) }
        let sets: [StringOptions] = [Self.insensitive, Self.insensitive, .caseInsensitive, .diacriticInsensitive]
        let questions = (0..<390).map { round in
            let typed = (Self.string(&random), Self.string(&random))
            return (form: round % 13, typed: typed, options: sets[random.next(below: sets.count)])
        }
        try await withEntries(place, titles) { entries in
            @MainActor func keys(_ node: PredicateTree.Node) throws -> [Int64] {
                try entries.fetch(Entry.self, where: FetchPredicate(node)).map(\.objectID.key).sorted()
            }
            for (form, typed, options) in questions {
                let found = try keys(Self.node("search", form, typed, options: options))
                let expected = try keys(Self.node("plain", form, typed, options: options))
                #expect(found == expected, "seed \(seed), form \(form): \(typed), \(options)")
                guard options == Self.insensitive else { continue }
                // A canonical string compares as the string that it comes from.
                let named = try keys(Self.node("title", form, typed, options: options))
                #expect(found == named, "seed \(seed), form \(form): \(typed)")
            }
        }
    }

    /// Whatever the characters: a string with the marks of another script was folded in two ways before.
    @Test(arguments: places)
    func aTypedStringFindsItsOwnRow(_ place: HistoryPlace) async throws {
        try await withEntries(place, Self.pieces) { entries in
            for typed in Self.pieces {
                let all = Self.pieces.filter { piece in
                    ValueOrder.folded(Self.insensitive).compare(.text(piece), .text(typed)) == 0
                }
                let equal = FetchPredicate<Entry>(Self.node("search", 0, (typed, "")))
                #expect(try entries.fetch(Entry.self, where: equal).count == all.count, "\(typed)")
                let format = try FetchPredicate<Entry>(format: "search == canonical(%@)", typed)
                #expect(try entries.fetch(Entry.self, where: format).count == all.count, "\(typed)")
            }
        }
    }

    @Test func aTypedStringIsFoundByItsIndex() async throws {
        try await withEntries(.sqlite, Self.pieces + (0..<300).map { "Title \($0)" }) { entries in
            let list = FetchExpression.list([.constant(.text("TÍTLE 29")), .constant(.text("Á"))])
            let predicates: [FetchPredicate<Entry>] = [
                FetchPredicate(Self.node("search", 0, ("TÍTLE 29", ""))),
                FetchPredicate(Self.node("search", 0, ("TITLE 29", ""), options: .caseInsensitive)),
                FetchPredicate(Self.node("search", 7, ("TÍTLE 29", ""))),
                FetchPredicate(.isIn(.keyPath(["search"]), list, Self.insensitive)),
                try FetchPredicate(format: "search == canonical(%@)", "TÍTLE 29"),
            ]
            for predicate in predicates {
                let plan = try entries.main.explain(ObjectRequest(Entry.self, where: predicate))
                #expect(plan.steps.contains { $0.hasPrefix("SEARCH") } && plan.warnings.isEmpty, "\(plan)")
            }
            // A dictionary order, and the characters of Swift, are no comparisons of bytes.
            for options in [Self.insensitive.union(.localized), Self.insensitive.union(.characters)] {
                let other = FetchPredicate<Entry>(Self.node("search", 7, ("TÍTLE 29", ""), options: options))
                #expect(try !entries.main.explain(ObjectRequest(Entry.self, where: other)).warnings.isEmpty)
                #expect(try entries.main.count(Entry.self, where: other) == 11)
            }
        }
    }

    /// Until the save, a new object has the default value, which need not be canonical.
    @Test func aDefaultValueIsComparedAsItIs() async throws {
        try await withEntries(.memory, []) { entries in
            try await entries.perform { context in
                _ = try context.insert(Entry.self)
                let typed = FetchPredicate<Entry>(Self.node("named", 0, ("NÉW", "")))
                #expect(try context.count(Entry.self, where: typed) == 1)
            }
        }
    }
}
