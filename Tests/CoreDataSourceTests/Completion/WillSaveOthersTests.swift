import CoreDataSource
import ErrorExpectations
import Foundation
import RowStore
import Synchronization
import TestSupport
import Testing

/// Hooks of several data sources in one batch, with delete rules that lead from each to others.
@MainActor
struct WillSaveOthersTests {
    private func withLibrary(
        _ body: @MainActor (PersistentContainer) async throws -> Void
    ) async throws {
        let container = try await PersistentContainer(model: .library, store: .inMemory)
        try await body(container)
        try await container.close()
    }

    /// Adds two books on a shelf, with loans, nodes and tags.
    private func fill(
        _ shelves: ShelfSource, _ loans: LoanSource, _ container: PersistentContainer
    ) async throws {
        try await shelves.add([ShelfValue(key: "s", books: ["a", "b"])])
        try await loans.add([LoanValue(key: "l", book: "a", day: "d"), LoanValue(key: "m", book: "b", day: "d")])
        try await container.perform(in: shelves, try container.dataSource(CountedNodes.self)) { shelves, nodes in
            let node = try nodes.insert(Node.self)
            (node.key, node.book) = ("n", try shelves.first(Volume.self, where: \.key, equals: "a"))
        }
        #expect(try await container.libraryFaults() == [])
    }

    // MARK: What hooks delete

    /// A read of a hook applies cascades. The other delete rules apply, too.
    @Test func aHookThatDeletesAndThenReadsAppliesAllRules() async throws {
        try await withLibrary { container in
            let shelves = try container.dataSource(ScriptedShelves.self)
            try await fill(shelves, try container.dataSource(CountedLoans.self), container)
            shelves.script.set { changes, context in
                guard try changes.of(Rack.self).contains(where: { $0.kind == .insert }) else { return }
                try context.delete(Volume.self, where: \.key == "a")
                #expect(try context.fetch(Loan.self).map(\.key) == ["m"])
                #expect(try context.fetch(Node.self).map { $0.book?.key } == [nil])
            }
            try await shelves.add([ShelfValue(key: "t", books: [])])
            #expect(try container.main.fetch(Volume.self).map(\.key) == ["b"])
            #expect(try container.main.fetch(Node.self).map(\.hasBook) == [false])
            #expect(try container.main.fetch(Day.self).map(\.loanCount) == [1])
            #expect(try await container.libraryFaults() == [])
        }
    }

    @Test func aRuleDeniesWhatAHookDeletes() async throws {
        try await withLibrary { container in
            let shelves = try container.dataSource(ScriptedShelves.self)
            let holds = try container.dataSource(HoldSource.self)
            try await fill(shelves, try container.dataSource(CountedLoans.self), container)
            try await container.perform(in: shelves, holds) { shelves, holds in
                let hold = try holds.insert(Hold.self)
                (hold.key, hold.book) = ("h", try shelves.first(Volume.self, where: \.key, equals: "a"))
            }
            shelves.script.set { changes, context in
                guard try changes.of(Rack.self).contains(where: { $0.kind == .insert }) else { return }
                try context.delete(Volume.self, where: \.key == "a")
                _ = try context.count(Loan.self)
            }
            await expectError(.deletionDenied) { try await shelves.add([ShelfValue(key: "t", books: [])]) }
            #expect(try container.main.count(Rack.self) == 1 && container.main.count(Loan.self) == 2)
            #expect(try await container.libraryFaults() == [])
        }
    }

    /// A cascade from another data source has deleted what would deny the deletion.
    @Test func aDeletedObjectOfAnotherDataSourceDeniesNothing() async throws {
        try await withLibrary { container in
            let shelves = try container.dataSource(ScriptedShelves.self)
            let tags = try container.dataSource(CountedTags.self)
            let holds = try container.dataSource(HoldSource.self)
            try await fill(shelves, try container.dataSource(CountedLoans.self), container)
            try await tags.add(["t"])
            try await container.perform(in: shelves, tags, holds) { shelves, tags, holds in
                let book = try shelves.first(Volume.self, where: \.key, equals: "a")
                let tag = try tags.first(Tag.self, where: \.key, equals: "t")
                let hold = try holds.insert(Hold.self)
                (hold.key, hold.book, hold.tag) = ("h", book, tag)
                if let book { tag?.books.insert(book) }
            }
            shelves.script.set { changes, context in
                let untagged = try changes.owners(of: \Volume.tags).filter { $0.tags.isEmpty }
                for book in untagged {
                    #expect(book.holds.isEmpty)
                    context.delete(book)
                }
            }
            try await tags.delete(Tag.self, where: nil)
            #expect(try container.main.fetch(Volume.self).map(\.key) == ["b"])
            #expect(try container.main.count(Hold.self) == 0)
            #expect(try await container.libraryFaults() == [])
        }
    }

    /// The hook that counts was called before another hook deletes some of what it has counted.
    @Test func whatAnotherHookDeletesIsTold() async throws {
        try await withLibrary { container in
            let shelves = try container.dataSource(ScriptedShelves.self)
            let loans = try container.dataSource(CountedLoans.self)
            try await fill(shelves, loans, container)
            shelves.script.set { changes, context in
                if try changes.of(Rack.self).isEmpty { return }
                try context.delete(Volume.self, where: \.key == "a")
            }
            try await container.perform(in: loans, shelves) { loans, shelves in
                let loan = try loans.insert(Loan.self)
                (loan.key, loan.book) = ("late", try shelves.first(Volume.self, where: \.key, equals: "a"))
                loan.day = try loans.first(Day.self, where: \.key, equals: "d")
                try shelves.insert(Rack.self).key = "t"
            }
            #expect(try container.main.fetch(Loan.self).map(\.key) == ["m"])
            #expect(try container.main.fetch(Day.self).map(\.loanCount) == [1])
            #expect(try await container.libraryFaults() == [])
        }
    }

    /// Each object of a cascade is told once, also if there are more than delete rules handle at once.
    @Test func aLargeCascadeIsToldOnce() async throws {
        try await withLibrary { container in
            let shelves = try container.dataSource(ShelfSource.self)
            let loans = try container.dataSource(ScriptedLoans.self)
            try await shelves.add([ShelfValue(key: "s", books: ["a", "b"])])
            try await loans.add((0..<3_000).map { LoanValue(key: "\($0)", book: $0 % 3 == 0 ? "b" : "a", day: "d") })
            let told = Mutex<[String]>([])
            loans.script.set { changes, context in
                let deleted = try changes.of(Loan.self).filter { $0.kind == .delete }.map(\.object.key)
                told.withLock { $0 += deleted }
                for day in try changes.owners(of: \Day.loans) { day.loanCount = Int64(day.loans.count) }
            }
            let report = try await shelves.delete(Volume.self, where: \.key == "a")
            #expect(report == SaveReport(updated: 1, deleted: 2_001))
            #expect(told.withLock { $0.count } == 2_000)
            #expect(told.withLock { Set($0).count } == 2_000)
            #expect(try container.main.fetch(Day.self).map(\.loanCount) == [1_000])
        }
    }

    // MARK: What hooks read

    /// A read of a hook shows what the batch has changed and deleted in all its data sources.
    @Test func everyReadShowsTheWholeBatch() async throws {
        try await withLibrary { container in
            let shelves = try container.dataSource(ShelfSource.self)
            let loans = try container.dataSource(ScriptedLoans.self)
            try await shelves.add([ShelfValue(key: "s", books: ["a", "b", "c"])])
            try await loans.add([LoanValue(key: "l", book: "a"), LoanValue(key: "m", book: "b")])
            let ids = try container.main.ids(ObjectRequest(Volume.self, order: [.ascending(\.key)]))
            let found = Mutex<[String]>([])
            loans.script.set { changes, context in
                guard try changes.of(Loan.self).contains(where: { $0.kind == .insert }) else { return }
                let reads = try LibraryReads(context, ids)
                found.withLock { $0 += reads.lines }
            }
            try await container.perform(in: loans, shelves) { loans, shelves in
                // The context of the loans knows the rows of the books.
                #expect(try loans.fetch(Volume.self).count == 3)
                #expect(try loans.fetch(Loan.self).compactMap { $0.book?.key }.sorted() == ["a", "b"])
                try shelves.delete(Volume.self, where: \.key == "a")
                let new = try shelves.insert(Volume.self)
                (new.key, new.title) = ("d", "new")
                try shelves.first(Volume.self, where: \.key, equals: "b")?.title = "edited"
                try shelves.first(Volume.self, where: \.key, equals: "c")?.key = "x"
                try loans.insert(Loan.self).key = "late"
            }
            #expect(
                found.withLock { $0 } == [
                    "fetch b x d", "title edited - new", "gone false", "renamed true false", "by id nil b x",
                    "ids b x", "count 3 of 1", "exists false true", "values b d x", "longest d", "first b",
                    "loans b -", "joined m", "related false",
                ])
        }
    }

    /// A loan that wants a book does not get one that the batch deletes.
    @Test func aHookLinksNothingThatTheBatchDeletes() async throws {
        try await withLibrary { container in
            let shelves = try container.dataSource(CountedShelves.self)
            let loans = try container.dataSource(CountedLoans.self)
            try await fill(shelves, loans, container)
            try await container.perform(in: loans, shelves) { loans, shelves in
                try loans.insert(Loan.self).key = "wants a book"
                try shelves.delete(Volume.self, where: \.key == "a")
            }
            let wanted = try container.main.first(Loan.self, where: \.key, equals: "wants a book")
            #expect(wanted?.book?.key == "b" && wanted?.bookKey == "b")
            #expect(try await container.libraryFaults() == [])
        }
    }

    /// The link was made, and then another hook deletes its destination.
    @Test func aLinkToWhatAnotherHookDeletesIsUndone() async throws {
        try await withLibrary { container in
            let shelves = try container.dataSource(ScriptedShelves.self)
            let nodes = try container.dataSource(CountedNodes.self)
            try await fill(shelves, try container.dataSource(CountedLoans.self), container)
            shelves.script.set { changes, context in
                if try changes.of(Rack.self).isEmpty { return }
                try context.delete(Volume.self, where: \.key == "b")
            }
            try await container.perform(in: nodes, shelves) { nodes, shelves in
                try nodes.first(Node.self)?.book = try shelves.first(Volume.self, where: \.key, equals: "b")
                try shelves.insert(Rack.self).key = "t"
            }
            #expect(try container.main.fetch(Node.self).map(\.hasBook) == [false])
            #expect(try await container.libraryFaults() == [])
        }
    }

    // MARK: What hooks may not do

    /// Saved, edited and inserted objects of other data sources are read-only for a hook.
    @Test(arguments: ["saved", "edited", "inserted", "delete", "insert", "link"])
    func aHookCannotChangeObjectsOfOthers(way: String) async throws {
        try await withLibrary { container in
            let shelves = try container.dataSource(ShelfSource.self)
            let loans = try container.dataSource(ScriptedLoans.self)
            let tags = try container.dataSource(TagSource.self)
            try await shelves.add([ShelfValue(key: "s", books: ["saved", "edited"])])
            loans.script.set { changes, context in
                let book = try context.first(Volume.self, where: \.key, equals: way)
                book?.title = "changed"
                if way == "delete" { context.delete(try context.fetch(Volume.self)[0]) }
                if way == "insert" {
                    let other = try context.fetch(Volume.self)[0].context as? PrivateContext
                    _ = try other?.insert(Volume.self)
                }
                if way == "link" { try context.fetch(Volume.self)[0].tags.insert(try context.fetch(Tag.self)[0]) }
            }
            let error = await expectError(.entityNotOwned) {
                try await container.perform(in: loans, shelves, tags) { loans, shelves, tags in
                    try loans.insert(Loan.self).key = "l"
                    try shelves.insert(Volume.self).key = "inserted"
                    try shelves.first(Volume.self, where: \.key, equals: "edited")?.title = "by the batch"
                    try tags.insert(Tag.self).key = "t"
                }
            }
            #expect(error?.message.contains("willSave(_:in:) changed") == true, "\(error?.message ?? "")")
            #expect(try container.main.fetch(Volume.self).map(\.title) == ["", ""])
            #expect(try container.main.count(Loan.self) == 0)
            // The contexts can be used again.
            loans.script.set { _, _ in }
            try await shelves.update(Volume.self, set: [.set(\.title, "later")])
            #expect(try container.main.fetch(Volume.self).map(\.title) == ["later", "later"])
        }
    }

    // MARK: Which data sources take part

    /// The hook of the shelves deletes books in a batch of the tags, whose delete rules do not reach the loans of the books.
    @Test func aHookMayDeleteWhateverItsDeleteRulesReach() async throws {
        try await withLibrary { container in
            let shelves = try container.dataSource(ScriptedShelves.self)
            let loans = try container.dataSource(CountedLoans.self)
            let tags = try container.dataSource(CountedTags.self)
            try await fill(shelves, loans, container)
            try await tags.add(["t"])
            try await container.perform(in: shelves, tags) { shelves, tags in
                let book = try shelves.first(Volume.self, where: \.key, equals: "a")
                if let book { try tags.first(Tag.self)?.books.insert(book) }
            }
            shelves.script.set { changes, context in
                for book in try changes.owners(of: \Volume.tags) where book.tags.isEmpty { context.delete(book) }
            }
            try await tags.delete(Tag.self, where: nil)
            #expect(try container.main.fetch(Loan.self).map(\.key) == ["m"])
            #expect(try await container.libraryFaults() == [])
        }
    }

    /// Without the hook, that batch does not wait for the data source of the nodes.
    @Test func dataSourcesAreJoinedOnlyThroughThoseWithAHook() async throws {
        try await withLibrary { container in
            _ = try container.dataSource(ShelfSource.self)
            _ = try container.dataSource(HoldSource.self)
            let tags = try container.dataSource(CountedTags.self)
            let nodes = try container.dataSource(CountedNodes.self)
            try await tags.add(["t"])
            try await hold { pause in
                try await nodes.perform { _ in pause() }
            } meanwhile: {
                let report = try await tags.delete(Tag.self, where: nil)
                #expect(report.deleted == 1)
            }
        }
    }

    // MARK: Released data sources

    /// The container and the data source with the hook are gone. So the batch fails before it changes anything.
    @Test func aReleasedHookIsNotSkipped() async throws {
        let directory = try TemporaryDirectory()
        var container: PersistentContainer? = try await PersistentContainer(
            model: .library, store: .sqlite(directory.store))
        let shelves = try #require(try container?.dataSource(ShelfSource.self))
        weak let loans = try container?.dataSource(CountedLoans.self)
        try await shelves.add([ShelfValue(key: "s", books: ["a"])])
        try await loans?.add([LoanValue(key: "l", book: "a", day: "d")])
        container = nil
        while loans != nil { await Task.yield() }
        let hasRun = Mutex(false)
        let error = await expectError(.storeClosed) {
            try await shelves.perform { _ in hasRun.withLock { $0 = true } }
        }
        #expect(error?.message.contains("CountedLoans completes this save") == true)
        await expectError(.storeClosed) { try await shelves.delete(Rack.self, where: nil) }
        await expectError(.storeClosed) { _ = try await shelves.planSync([], entity: Rack.self) }
        #expect(hasRun.withLock { !$0 })
        #expect(try shelves.count(Volume.self) == 1 && shelves.count(Loan.self) == 1)
        // A batch that deletes nothing does not need the hook.
        try await shelves.add([ShelfValue(key: "t", books: ["b"])])
    }

    /// A call keeps the hooks that it needs.
    @Test func aCallThatWaitsKeepsTheHooks() async throws {
        let directory = try TemporaryDirectory()
        var container: PersistentContainer? = try await PersistentContainer(
            model: .library, store: .sqlite(directory.store))
        let shelves = try #require(try container?.dataSource(ShelfSource.self))
        try await shelves.add([ShelfValue(key: "s", books: ["a", "b"])])
        try await container?.dataSource(CountedLoans.self).add([
            LoanValue(key: "l", book: "a", day: "d"), LoanValue(key: "m", book: "b", day: "d"),
        ])
        try await hold { pause in
            try await shelves.perform { context in
                pause()
                try context.delete(Volume.self, where: \.key == "a")
            }
        } meanwhile: {
            container = nil
        }
        #expect(try shelves.fetch(Day.self).map(\.loanCount) == [1])
    }
}

/// Each kind of read, as text.
private struct LibraryReads {
    private(set) var lines: [String] = []

    init(_ context: PrivateContext, _ ids: [ManagedObjectID]) throws {
        let books = try context.fetch(Volume.self)
        lines.append("fetch \(books.map(\.key).joined(separator: " "))")
        lines.append("title \(books.map { $0.title.isEmpty ? "-" : $0.title }.joined(separator: " "))")
        lines.append("gone \(try context.first(Volume.self, where: \.key, equals: "a") != nil)")
        let renamed = try ["x", "c"].map { try context.first(Volume.self, where: \.key, equals: $0) != nil }
        lines.append("renamed \(renamed[0]) \(renamed[1])")
        let byID = try ids.map { try context.object(Volume.self, id: $0)?.key ?? "nil" }
        lines.append("by id \(byID.joined(separator: " "))")
        lines.append("ids \(try context.objects(Volume.self, ids: ids).map(\.key).joined(separator: " "))")
        lines.append(
            "count \(try context.count(Volume.self)) of \(try context.count(Volume.self, where: \.title == "new"))")
        let exists = try ["a", "d"].map { key in try context.exists(Volume.self, where: \.key == key) }
        lines.append("exists \(exists[0]) \(exists[1])")
        let request = ObjectRequest(Volume.self, order: [.ascending(\.key)])
        lines.append("values \(try context.values(request, \.key).joined(separator: " "))")
        let newest = try context.aggregate(ObjectRequest(Volume.self, where: \.title == "new"), .max(\.key))
        lines.append("longest \(newest ?? "nil")")
        lines.append("first \(try context.first(Volume.self, order: [.ascending(\.key)])?.key ?? "nil")")
        let loans = try context.fetch(Loan.self)
        lines.append("loans \(loans.map { $0.book?.key ?? "-" }.joined(separator: " "))")
        let joined = try context.fetch(Loan.self, where: \.book?.title == "edited")
        lines.append("joined \(joined.map(\.key).joined(separator: " "))")
        lines.append("related \(books.contains { $0.loans.count > 1 })")
    }
}
