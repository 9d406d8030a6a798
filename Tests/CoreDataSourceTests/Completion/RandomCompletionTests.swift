import CoreDataSource
import Foundation
import TestSupport
import Testing

/// Random saves of five data sources whose hooks keep counts, and insert, link and delete.
///
/// After each save, the counts are compared with a plain count over all rows, in the store and on main. The rest is compared with
/// the same saves of data sources without hooks. Some hooks throw: then nothing of the save is left.
@MainActor struct RandomCompletionTests {
    /// How many sequences of saves; `COREDATASOURCE_COMPLETIONS=1000` for a long run.
    nonisolated static let rounds =
        Int(ProcessInfo.processInfo.environment["COREDATASOURCE_COMPLETIONS"] ?? "") ?? 12

    @Test(arguments: StoreKind.allCases) func whatHooksKeepIsRightAfterEachSave(kind: StoreKind) async throws {
        for round in 0..<max(1, Self.rounds / 2) {
            let seed = testSeed() &+ UInt64(round) &* 1_000_003
            var random = SeededRandom(seed: seed)
            var configuration: PersistentContainer.Configuration = random.next(below: 2) == 0 ? .init() : .uncached
            // Around the number of rows of the updates and deletions.
            configuration.changedRowLimit = random.next(below: 6)
            let directory = try TemporaryDirectory()
            let world = try await LibraryWorld<CountedShelves, CountedTags, CountedLoans, CountedNodes>(
                kind == .sqlite ? .sqlite(directory.store) : .inMemory, configuration)
            let plain = try await LibraryWorld<ShelfSource, TagSource, LoanSource, NodeSource>(
                .inMemory, configuration)
            for step in 0..<40 {
                let change = LibraryChange(&random)
                let label = "COREDATASOURCE_SEED=\(seed), step \(step), \(change)"
                let before = try await world.text()
                let saboteur = random.next(below: 5) == 0 ? world.saboteurs.randomElement(using: &random) : nil
                saboteur?.arm(after: random.next(below: 3))
                let outcome = await world.run(change)
                saboteur?.arm(after: nil)
                if outcome == .poisoned {
                    try #require(try await world.text() == before, "\(label), thrown by a hook")
                } else {
                    let expected = await plain.run(change)
                    try #require(outcome == expected, "\(label)")
                }
                let faults = try await world.container.libraryFaults()
                try #require(faults == [], "\(label)")
                let (text, expected) = (try await world.plainText(), try await plain.plainText())
                try #require(text == expected, "\(label)")
            }
            try await world.container.close()
            try await plain.container.close()
        }
    }
}

/// How a change ended.
private enum LibraryOutcome: Equatable {
    case saved, poisoned, failed(String)
}

/// One random save.
private struct LibraryChange: CustomStringConvertible, Sendable {
    private let kind: Int
    private let numbers: [Int]

    init(_ random: inout SeededRandom) {
        kind = random.next(below: 16)
        numbers = (0..<12).map { _ in random.next(below: 1000) }
    }

    var description: String { "change \(kind) with \(numbers)" }

    /// The number at a place, below a bound.
    func number(_ place: Int, below bound: Int) -> Int { numbers[place % numbers.count] % bound }

    private func shelf(_ place: Int) -> String { ["s0", "s1", "s2", "auto0", "auto1"][number(place, below: 5)] }
    private func book(_ place: Int) -> String { "b\(number(place, below: 12))" }
    private func tag(_ place: Int) -> String { "t\(number(place, below: 4))" }
    private func node(_ place: Int) -> Int { number(place, below: 12) }
    private func books() -> [String] { (0..<12).filter { number($0, below: 3) == 0 }.map { "b\($0)" } }

    @MainActor func run<Shelves: ShelfSource, Tags: TagSource, Loans: LoanSource, Nodes: NodeSource>(
        in world: LibraryWorld<Shelves, Tags, Loans, Nodes>
    ) async throws {
        let (shelves, tags, loans, nodes) = (world.shelves, world.tags, world.loans, world.nodes)
        switch kind {
        case 0, 1:
            let values = [ShelfValue(key: shelf(0), books: books()), ShelfValue(key: shelf(1), books: [book(2)])]
            let list = number(3, below: 2) == 0 ? values : [values[0]]
            if shelves is any SaveCompleting {
                try await shelves.add(list)
            } else {
                // Without the hook, `add` does not delete what the delete rules of swept books reach.
                try await shelves.perform { context in for value in list { _ = try shelves.onAdd(value, in: context) } }
            }
        case 2:
            let values = (0..<number(0, below: 4)).map { ShelfValue(key: shelf($0 + 1), books: [book($0 + 4)]) }
            _ = try await shelves.planSync(values, entity: Rack.self, deleting: .all, options: .allowsEmpty)
            try await shelves.sync(values, entity: Rack.self, deleting: .all, options: .allowsEmpty)
        case 3: try await shelves.delete(ShelfValue(key: shelf(0), books: []))
        case 4: try await shelves.delete(Volume.self, where: .isIn(\.key, books()))
        case 5:
            try await shelves.update(
                Volume.self, where: .isIn(\.key, books()), set: [.set(\.isRead, number(0, below: 2) == 0)])
        case 6: try await tags.update(Tag.self, set: [.set(\.name, "name \(number(0, below: 3))")])
        case 7, 8: try await link(shelves, tags, world.container)
        case 9: try await tags.delete(Tag.self, where: .isIn(\.key, [tag(0), tag(1)]))
        case 10, 11:
            try await loans.add(
                (0..<4).map { place in
                    let key = number(place, below: 3) == 0 ? "wants \(place)" : "l\(number(place, below: 9))"
                    let day = number(place + 3, below: 3) == 0 ? nil : "d\(number(place + 1, below: 3))"
                    return LoanValue(key: key, book: number(place, below: 4) == 1 ? nil : book(place + 2), day: day)
                })
        case 12:
            if number(0, below: 2) == 0 {
                try await loans.delete(Loan.self, where: \.key < "l\(number(1, below: 9))")
            } else {
                try await loans.perform { context in
                    for day in try context.fetch(Day.self, where: \.key == "d\(number(1, below: 3))") {
                        context.delete(day)
                    }
                }
            }
        case 13: try await plant(nodes, shelves, world.container)
        case 14: try await edit(shelves, loans, nodes, world.container)
        default: try await draft(shelves)
        }
    }

    /// Links and unlinks books and tags, and may hold a book.
    @MainActor private func link(
        _ shelves: ShelfSource, _ tags: TagSource, _ container: PersistentContainer
    ) async throws {
        let holds = try container.dataSource(HoldSource.self)
        try await container.perform(in: tags, shelves, holds) { tags, shelves, holds in
            for place in 0..<3 {
                let tag = try tags.findOrInsert(Tag.self, where: \.key, equals: tag(place))
                let book = try shelves.findOrInsert(Volume.self, where: \.key, equals: book(place))
                if number(place + 4, below: 4) == 0 { tag.books.remove(book) } else { book.tags.insert(tag) }
                if place == 0, number(9, below: 6) == 0 {
                    let hold = try holds.findOrInsert(Hold.self, where: \.key, equals: "h")
                    (hold.book, hold.tag) = (book, tag)
                }
            }
            if number(8, below: 4) == 0 {
                try shelves.delete(Volume.self, where: \.key == book(8))
            }
        }
    }

    /// Inserts, moves and deletes nodes. A node's parent has a lower number.
    @MainActor private func plant(
        _ nodes: NodeSource, _ shelves: ShelfSource, _ container: PersistentContainer
    ) async throws {
        try await container.perform(in: nodes, shelves) { nodes, shelves in
            for place in 0..<4 {
                let number = node(place)
                let node = try nodes.findOrInsert(Node.self, where: \.key, equals: "n\(number)")
                let parent = number == 0 ? 0 : self.number(place + 1, below: number)
                node.parent = number == 0 ? nil : try nodes.first(Node.self, where: \.key, equals: "n\(parent)")
                node.book = try shelves.first(Volume.self, where: \.key, equals: book(place + 5))
            }
            if number(9, below: 3) == 0 {
                try nodes.delete(Node.self, where: \.key == "n\(node(10))")
            }
        }
    }

    /// Edits objects of three data sources in one save.
    @MainActor private func edit(
        _ shelves: ShelfSource, _ loans: LoanSource, _ nodes: NodeSource, _ container: PersistentContainer
    ) async throws {
        try await container.perform(in: loans, nodes, shelves) { loans, nodes, shelves in
            try loans.findOrInsert(Loan.self, where: \.key, equals: "wants it").day = nil
            try shelves.delete(Volume.self, where: \.key == book(0))
            let book = try shelves.findOrInsert(Volume.self, where: \.key, equals: book(1))
            book.shelf = try shelves.findOrInsert(Rack.self, where: \.key, equals: shelf(2))
            book.title = "title \(number(3, below: 5))"
            let loan = try loans.findOrInsert(Loan.self, where: \.key, equals: "l\(number(4, below: 9))")
            loan.book = book
            for node in try nodes.fetch(Node.self, where: \.key > "n\(node(5))") { node.book = book }
            if number(6, below: 4) == 0 { context(shelves, deletes: shelf(7)) }
        }
    }

    private func context(_ shelves: PrivateContext, deletes key: String) {
        if let shelf = try? shelves.first(Rack.self, where: \.key, equals: key) { shelves.delete(shelf) }
    }

    /// Moves a book, or deletes a shelf, in a draft.
    @MainActor private func draft(_ shelves: ShelfSource) async throws {
        let found = try shelves.fetch(Volume.self, order: [.ascending(\.key)])
        if found.isEmpty { return }
        let draft = try shelves.draft(of: found[number(0, below: found.count)])
        draft.object.isRead = number(1, below: 2) == 0
        draft.object.shelf = try draft.context.first(Rack.self, where: \.key, equals: "s\(number(2, below: 3))")
        if number(3, below: 3) == 0 { try draft.context.delete(draft.object) }
        try await draft.save()
    }
}

/// A container with its data sources.
@MainActor
private final class LibraryWorld<Shelves: ShelfSource, Tags: TagSource, Loans: LoanSource, Nodes: NodeSource> {
    let container: PersistentContainer
    let shelves: Shelves
    let tags: Tags
    let loans: Loans
    let nodes: Nodes

    init(_ store: StoreLocation, _ configuration: PersistentContainer.Configuration) async throws {
        container = try await PersistentContainer(model: .library, store: store, configuration: configuration)
        shelves = try container.dataSource(Shelves.self)
        tags = try container.dataSource(Tags.self)
        loans = try container.dataSource(Loans.self)
        nodes = try container.dataSource(Nodes.self)
        _ = try container.dataSource(HoldSource.self)
    }

    var saboteurs: [Saboteur] {
        [
            (shelves as? CountedShelves)?.saboteur, (tags as? CountedTags)?.saboteur,
            (loans as? CountedLoans)?.saboteur,
            (nodes as? CountedNodes)?.saboteur,
        ].compactMap(\.self)
    }

    func run(_ change: LibraryChange) async -> LibraryOutcome {
        do {
            try await change.run(in: self)
            return .saved
        } catch is Poison {
            return .poisoned
        } catch {
            return .failed("\((error as? DataSourceError)?.code.rawValue ?? "\(error)")")
        }
    }

    /// Everything, in the store and on main.
    func text() async throws -> [String] {
        let counts =
            try container.main.fetch(Rack.self).map { "\($0.key) \($0.bookCount) \($0.readCount)" }
            + container.main.fetch(Day.self).map { "\($0.key) \($0.loanCount)" }
        return try await plainText() + counts
    }

    func plainText() async throws -> [String] {
        let text = try await container.read { try $0.libraryText() }
        #expect(try container.main.libraryText() == text)
        return text
    }
}
