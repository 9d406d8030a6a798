import CoreDataSource
import ErrorExpectations
import Foundation
import QueryLanguage
import TestSupport
import Testing

/// What holds for every predicate and every text.
///
/// `COREDATASOURCE_FORMAT_CASES` says how many random ones are tried, `COREDATASOURCE_FORMAT_SEED` from which seed on.
@Suite struct FormatPropertyTests {
    private let cases = Int(ProcessInfo.processInfo.environment["COREDATASOURCE_FORMAT_CASES"] ?? "") ?? 2000
    private let seed =
        UInt64(ProcessInfo.processInfo.environment["COREDATASOURCE_FORMAT_SEED"] ?? "") ?? .random(in: 0 ... .max)

    @Test func everyTreeIsReadAsItIsWritten() throws {
        var trees = RandomPredicate(random: SeededRandom(seed: seed))
        for number in 0..<cases {
            let predicate = FetchPredicate<ManagedObject>(trees.node())
            let format = predicate.predicateFormat
            let isSame = try FetchPredicate<ManagedObject>(format: format) == predicate
            try #require(isSame, "seed \(seed), number \(number): \(format)")
        }
    }

    @Test func everyTreeSurvivesJSON() throws {
        var trees = RandomPredicate(random: SeededRandom(seed: seed))
        for number in 0..<cases / 4 {
            let predicate = FetchPredicate<ManagedObject>(trees.node())
            let data = try JSONEncoder().encode([predicate])
            let isSame = try JSONDecoder().decode([FetchPredicate<ManagedObject>].self, from: data) == [predicate]
            try #require(isSame, "seed \(seed), number \(number): \(predicate)")
        }
    }

    /// Any text is a predicate that is written and read again, or an error that says where.
    @Test func damagedFormatsAreErrors() throws {
        var trees = RandomPredicate(random: SeededRandom(seed: seed))
        let pieces =
            Array("'\"()[]{}<>=!&|^~,.:%@#$\\-+*/ \0\n9eéA").map(String.init) + ["AND", "NOT ", "%K", "IN", "0x"]
        for _ in 0..<cases {
            var format = Array(FetchPredicate<ManagedObject>(trees.node()).predicateFormat)
            for _ in 0..<Int.random(in: 1...3, using: &trees.random) where !format.isEmpty {
                let place = Int.random(in: 0..<format.count, using: &trees.random)
                format.replaceSubrange(place...place, with: pieces.randomElement(using: &trees.random) ?? "")
            }
            do {
                let predicate = try FetchPredicate<ManagedObject>(format: String(format), "x", 1, nil)
                _ = predicate.predicateFormat
            } catch let error as DataSourceError {
                #expect(error.code == .unreadablePredicate)
            }
        }
    }

    @Test func deepFormatsAreErrorsAndNoTraps() throws {
        for (left, right) in [
            ("(", ")"), ("NOT ", ""), ("-", ""), ("{", "}"), ("abs(", ")"), ("TERNARY(a == 1, ", ", 1)"), ("ANY ", ""),
            ("!(", ")"), ("~", ""), ("1 << (", ")"),
        ] {
            for depth in [20, 40, 99, 100, 101, 205, 100_000] {
                let condition = left.hasSuffix(" ") && left.count < 6 || left == "!(" ? "a == 1" : "a"
                let middle = String(repeating: left, count: depth) + condition + String(repeating: right, count: depth)
                let format = condition == "a" ? middle + " == 1" : middle
                do {
                    let predicate = try FetchPredicate<ManagedObject>(format: format)
                    #expect(depth <= 205)
                    #expect(try FetchPredicate<ManagedObject>(format: predicate.predicateFormat) == predicate)
                } catch let error as DataSourceError {
                    #expect(depth > 40)
                    #expect(error.message.contains("nesting is deeper than"), "\(error.message)")
                }
            }
        }
        expectThrows(DataSourceError.self) {
            try FetchPredicate<ManagedObject>(format: "a" + String(repeating: " + 1", count: 100_000) + " == 1")
        }
    }

    /// However it is spelled: what is written for the deepest tree can be read.
    @Test(arguments: [
        "1", "a", "DECIMAL(\"1\")", "DATE(DOUBLE(\"inf\"))", "STORED(DATA(\"00\"))", "STORED(DOUBLE(\"inf\"))",
    ])
    func aLiteralIsOneLevel(_ literal: String) throws {
        let deepest = String(repeating: "-(", count: 97) + literal + String(repeating: ")", count: 97)
        let predicate = try FetchPredicate<ManagedObject>(format: "b - \(deepest) == b")
        #expect(try FetchPredicate<ManagedObject>(format: predicate.predicateFormat) == predicate)
        expectThrows(DataSourceError.self) { try FetchPredicate<ManagedObject>(format: "b - -\(deepest) == b") }
    }

    @Test func longFormatsAreRead() throws {
        let numbers = (0..<10_000).map(String.init)
        let isIn = try FetchPredicate<ManagedObject>(format: "a IN {\(numbers.joined(separator: ", "))}")
        #expect(isIn == (try FetchPredicate<ManagedObject>(format: "a IN %@", Array(0..<10_000))))
        let any = try FetchPredicate<ManagedObject>(format: numbers.map { "a == \($0)" }.joined(separator: " OR "))
        #expect(try FetchPredicate<ManagedObject>(format: any.predicateFormat) == any)
        let text = String(repeating: "é'", count: 500_000)
        #expect(
            try FetchPredicate<ManagedObject>(
                format: FetchPredicate<ManagedObject>(format: "a == %@", text).predicateFormat)
                == FetchPredicate<ManagedObject>(format: "a == %@", text))
    }

    /// Chains that were joined in code are nested, and yet they can be written and read.
    @Test func chainsOfManyAreWrittenAndRead() throws {
        let one = \ContactEntity.name == "x"
        let chain = (0..<5000).reduce(one) { chain, _ in chain || one }
        #expect(try FetchPredicate<ManagedObject>(format: chain.predicateFormat).tree == chain.tree)
    }

    @Test(arguments: [
        "[]", "{}", "5", "null", "\"\"", "\"a ==\"", "{\"node\":{}}", "\"\\u0000\"",
    ])
    func hostileJSONIsAnError(_ json: String) {
        expectThrows((any Error).self) {
            try JSONDecoder().decode(FetchPredicate<ManagedObject>.self, from: Data(json.utf8))
        }
    }

    @Test func anEncodedPredicateIsDecoded() throws {
        func copy(_ predicate: PredicateTree) throws -> PredicateTree {
            try JSONDecoder().decode(PredicateTree.self, from: JSONEncoder().encode(predicate))
        }
        let one = (\ContactEntity.name == "x").tree
        var predicates = [
            (0..<10_000).reduce(one) { chain, _ in chain || one },
            (0..<97).reduce(one) { predicate, _ in !predicate },
            (\EveryType.decimalRequired == Decimal.nan).tree, (\EveryType.doubleRequired < .nan).tree,
            (\EveryType.dateRequired == Date(timeIntervalSinceReferenceDate: .nan)).tree,
        ]
        if let base = URL(string: "https://a.example/b/"), let url = URL(string: "c", relativeTo: base) {
            predicates.append((\EveryType.uriRequired == url).tree)
        }
        for predicate in predicates { #expect(try copy(predicate) == predicate) }
        expectError(.unsupportedQuery) {
            try copy((0..<150).reduce(one) { predicate, _ in !predicate })
        }
    }

    @Test func equalPredicatesSayTheSame() throws {
        func format(_ text: String) throws -> FetchPredicate<ManagedObject> {
            try FetchPredicate<ManagedObject>(format: text)
        }
        #expect(try format("(a == 1 AND b == 2) AND c == 3") == format("a == 1 AND (b == 2 AND c == 3)"))
        #expect(try format("(a == 1 OR b == 2) AND c == 3") != format("a == 1 OR (b == 2 AND c == 3)"))
        #expect(try format("a == 1 AND b == 2") != format("b == 2 AND a == 1"))
    }

    @Test func argumentsBeyondAllBoundsAreErrors() throws {
        let arguments: [any Sendable] = [
            0...Int64.max, 0..<Int.max, Int128(1) << 100, -(Int128(1) << 100), 0..<1_000_001,
        ]
        for argument in arguments {
            expectError(.unreadablePredicate) {
                try FetchPredicate<ManagedObject>(format: "a IN %@", argument)
            }
        }
        #expect(
            try FetchPredicate<ManagedObject>(format: "a IN %@", 0..<3)
                == FetchPredicate<ManagedObject>(format: "a IN {0, 1, 2}"))
        #expect(
            try FetchPredicate<ManagedObject>(format: "a == %@", UInt64.max).predicateFormat
                == "a == DECIMAL(\"18446744073709551615\")")
    }

    @Test(arguments: ["(", "["])
    func deepJSONIsAnError(_ opening: String) {
        let deep = String(repeating: opening, count: 100_000)
        hostileJSONIsAnError(opening == "(" ? "\"\(deep)\"" : deep)
    }

    @Test func aPredicateThatNeedsObjectsIsNotEncoded() throws {
        let predicate = FetchPredicate(#Predicate<ContactEntity> { $0.name.utf8.count > 3 })
        expectError(.unsupportedQuery) { try JSONEncoder().encode(predicate) }
    }
}
