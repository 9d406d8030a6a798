import CoreDataSource
import ManagedModel
import RowStore
import TestSupport
import Testing

/// Rows of saves that are not in the store yet, found by key and by unique values.
@MainActor
struct PendingRowsTests {
    /// A container in which so many inserts are not in the store yet.
    private func pending(_ count: Int) async throws -> (PersistentContainer, SenderDataSource, @Sendable () -> Void) {
        let (container, store) = PersistentContainer.faulty(configuration: .init(registeredObjectByteLimit: 0))
        let senders = try container.dataSource(SenderDataSource.self)
        let release = store.holdCommits()
        for start in stride(from: 0, to: count, by: 50) {
            let items = (start..<start + 50).map { ItemData(key: "k\($0)", number: Int64($0)) }
            try await senders.add(items, waitFor: .main)
        }
        return (container, senders, release)
    }

    /// A look-up took time that grew with everything that was pending: 10,000 plain inserts took 9 seconds.
    @Test(arguments: [100, 400, 5_000])
    func aLookUpCostsTheSameHoweverMuchIsPending(count: Int) async throws {
        let (container, senders, release) = try await pending(count)
        defer { release() }
        let before = container.stack.root.examinedPendingRows
        for number in stride(from: 0, to: count, by: count / 20) {
            let found = try senders.main.first(Sender.self, where: \.key == "k\(number)")
            #expect(found?.number == Int64(number))
            #expect(try found.map { try container.main.object(Sender.self, id: $0.objectID)?.key } == "k\(number)")
        }
        #expect(container.stack.root.examinedPendingRows - before <= 20 * 10)
    }

    /// Each insert looks whether its unique value is taken. 10,000 of them beside 25,000 pending ones took 51 seconds.
    @Test(arguments: [100, 5_000])
    func insertsCostTheSameHoweverMuchIsPending(count: Int) async throws {
        let (container, senders, release) = try await pending(count)
        defer { release() }
        let before = container.stack.root.examinedPendingRows
        try await senders.perform(waitFor: .main) { context in
            for number in Int64(0)..<50 {
                let sender = try context.insert(Sender.self)
                (sender.key, sender.number) = ("new\(number)", number)
            }
        }
        try await senders.add((50..<100).map { ItemData(key: "new\($0)", number: $0) }, waitFor: .main)
        #expect(container.stack.root.examinedPendingRows - before <= 100 * 10)
        #expect(try senders.count(Sender.self) == count + 100)
    }

    /// A snapshot is a copy of all pending rows, and the next save copied them one by one: 0.3 ms with 10,000, 8 ms with 100,000.
    @Test func aSaveAfterASnapshotCopiesFewPendingRows() async throws {
        let (container, store) = PersistentContainer.faulty(configuration: .init(registeredObjectByteLimit: 0))
        let senders = try container.dataSource(SenderDataSource.self)
        let release = store.holdCommits()
        for start in stride(from: 0, to: 10_000, by: 500) {
            let items = (start..<start + 500).map { ItemData(key: "k\($0)", number: Int64($0)) }
            try await senders.add(items, waitFor: .main)
        }
        let layout = try #require(container.stack.layout.entity(named: "Sender"))
        #expect(container.stack.root.pendingRowsCopied(layout.index) <= 1_024)
        #expect(container.stack.root.pendingRowsCopied(layout.index) > 0)
        let counts = try await container.read { context in
            let before = try context.count(Sender.self)
            try waitForSave(of: senders)
            return (before, try context.count(Sender.self))
        }
        #expect(counts.0 == 10_000)
        #expect(counts.1 == 10_000)
        #expect(try senders.count(Sender.self) == 10_001)
        release()
        try await container.flush()
        #expect(try senders.count(Sender.self) == 10_001)
    }

    /// One large save is looked up as fast, and was read row by row.
    @Test func aLargeSaveIsLookedUpByKeyAndValue() async throws {
        let (container, store) = PersistentContainer.faulty(configuration: .init(registeredObjectByteLimit: 0))
        let senders = try container.dataSource(SenderDataSource.self)
        try await senders.add((0..<10).map { ItemData(key: "old\($0)", number: $0) })
        let release = store.holdCommits()
        try await senders.perform(waitFor: .main) { context in
            for sender in try context.fetch(Sender.self) {
                if sender.number % 2 == 0 { context.delete(sender) } else { sender.key = "new\(sender.number)" }
            }
            for number in Int64(10)..<3_000 {
                let sender = try context.insert(Sender.self)
                (sender.key, sender.number) = ("new\(number)", number)
            }
        }
        let before = container.stack.root.examinedPendingRows
        #expect(try senders.main.first(Sender.self, where: \.key == "new1")?.number == 1)
        #expect(try senders.main.first(Sender.self, where: \.key == "old1") == nil)
        #expect(try senders.main.first(Sender.self, where: \.key == "old2") == nil)
        #expect(try senders.main.first(Sender.self, where: \.key == "new2999")?.number == 2_999)
        #expect(container.stack.root.examinedPendingRows - before <= 20)
        try await senders.add(ItemData(key: "new2999", number: -1), waitFor: .main)
        #expect(try senders.main.first(Sender.self, where: \.key == "new2999")?.number == -1)
        #expect(try senders.count(Sender.self) == 2_995)
        release()
        try await container.flush()
        #expect(try senders.count(Sender.self) == 2_995)
    }

    @Test(arguments: [Int64(3), 2_000])
    func aPendingRowIsFoundByEachConstraint(count: Int64) throws {
        let layout = ModelLayout(
            ManagedObjectModel(
                name: "Shelves",
                entities: [
                    EntityDescription(
                        name: "Book",
                        attributes: [
                            AttributeDescription(name: "code", type: .string, isOptional: true),
                            AttributeDescription(name: "place", type: .integer64, isOptional: true),
                        ], uniquenessConstraints: [["code"], ["place"]])
                ]))
        let root = RootTier(layout, store: InMemoryStore(layout)) {}
        var changes = EntityChanges(entity: 0)
        changes.inserted = (1...count).map { key in
            var row = RowSnapshot(columnCount: 2)
            row.setText("code \(key)", 0)
            row.setInteger(key, 1)
            return StoredRow(key: key, row: row)
        }
        _ = try root.accept(ChangeSet(entities: [changes]))
        let entity = layout.entities[0]
        for key in [1, 2, count] {
            for (constraint, columns) in entity.constraints.enumerated() {
                let value = columns == [0] ? RowValue.text("code \(key)") : .integer(key)
                let found = try root.rows.row(entity: 0, constraint: constraint, values: [value], entity).row
                #expect(found?.key == key)
            }
        }
    }

    /// It is not in what was read, and pending no more.
    @Test func aFetchSeesASaveThatIsCommittedBetweenItsTwoLooks() throws {
        let layout = ModelLayout(.chat)
        let store = FaultyStore(layout)
        let root = RootTier(layout, store: store) {}
        let entity = try #require(layout.entity(named: "Sender"))
        let save = ChangeSet.inserting(1, entity)
        store.afterNextRead {
            _ = try? root.accept(save)
            try? root.flushAndWait()
        }
        #expect(try root.rows.rows(RowQuery(entity: entity.index), entity).rows.map(\.key) == [1])
        #expect(root.pendingSaveCount == 0)
    }

    /// The store has the older row, and a newer save of the same row is still to be committed.
    @Test func aCommittedSaveLeavesTheRowOfANewerOne() async throws {
        let layout = ModelLayout(.chat)
        let store = FaultyStore(layout)
        let root = RootTier(layout, store: store) {}
        let entity = try #require(layout.entity(named: "Sender"))
        let key = try #require(entity.column(named: "key"))
        var (old, new) = (
            RowSnapshot(columnCount: entity.columns.count), RowSnapshot(columnCount: entity.columns.count)
        )
        old.setText("old", key)
        new.setText("new", key)
        var (insertion, update) = (EntityChanges(entity: entity.index), EntityChanges(entity: entity.index))
        insertion.inserted = [StoredRow(key: 1, row: old)]
        var columns = ColumnSet()
        columns.insert(key)
        update.updated = [UpdatedRow(key: 1, row: new, previous: old, columns: columns)]
        let (arrived, goOn) = (store.commitArrives(), store.holdCommits())
        let first = try root.accept(ChangeSet(entities: [insertion]))
        root.commitSoon()
        for await _ in arrived {}
        _ = try root.accept(ChangeSet(entities: [update]))
        let shown = Shared("")
        // It is called before the next commit begins.
        root.whenCommitted(first) { _ in
            if let row = try? root.rows.row(entity: entity.index, key: 1).row { shown.value = row.text(key) }
        }
        goOn()
        try await root.flush()
        #expect(shown.value == "new")
    }

    /// Pending rows that follow all that were read were taken for the next ones, where stored rows are between.
    @Test func aWindowHasTheStoredRowsThatComeBeforePendingOnes() throws {
        let layout = ModelLayout(.chat)
        let entity = try #require(layout.entity(named: "Sender"))
        let (key, number) = (try #require(entity.column(named: "key")), try #require(entity.column(named: "number")))
        let root = RootTier(layout, store: InMemoryStore(layout)) {}
        func row(_ rowKey: Int64) -> StoredRow {
            var row = RowSnapshot(columnCount: entity.columns.count)
            row.setText("\(rowKey)", key)
            row.setInteger(rowKey, number)
            return StoredRow(key: rowKey, row: row)
        }
        var stored = EntityChanges(entity: entity.index)
        stored.inserted = (1...100).map(row)
        _ = try root.accept(ChangeSet(entities: [stored]))
        try root.flushAndWait()
        var pending = EntityChanges(entity: entity.index)
        pending.deleted = (1...30).map(row)
        pending.inserted = (1_001...1_020).map(row)
        _ = try root.accept(ChangeSet(entities: [pending]))
        let query = RowQuery(entity: entity.index, sort: [SortKey(column: number)], limit: 20)
        #expect(try root.rows.rows(query, entity).rows.map(\.key) == Array(31...50))
    }

    /// Random saves, of which some are rolled back and some are committed, compared with a dictionary.
    @Test(arguments: 0..<8)
    func pendingRowsEqualTheReference(round: UInt64) throws {
        let seed = testSeed() &+ round
        var random = SeededRandom(seed: seed)
        let layout = ModelLayout(.chat)
        let entity = try #require(layout.entity(named: "Sender"))
        let (key, number) = (try #require(entity.column(named: "key")), try #require(entity.column(named: "number")))
        let constraint = try #require(entity.constraint(onColumn: key))
        let root = RootTier(layout, store: InMemoryStore(layout)) {}
        let sources = (1...2).map { SaveSource("\($0)", origin: $0) }
        /// By the row's key: its unique value, and the save that it is of. Each source has rows of its own.
        var shown: [Int64: String] = [:]
        for step in 0..<80 {
            let place = Int.random(in: 0..<2, using: &random)
            if Int.random(in: 0..<10, using: &random) == 0 {
                try root.flushAndWait()
            } else {
                let isLarge = Int.random(in: 0..<8, using: &random) == 0
                var changes = EntityChanges(entity: entity.index)
                var used: Set<Int64> = []
                for _ in 0..<(isLarge ? 2_000 : 5) {
                    let row = Int64.random(in: 1...2_000, using: &random) * 2 + Int64(place)
                    guard used.insert(row).inserted else { continue }
                    var new = RowSnapshot(columnCount: entity.columns.count)
                    let value = "\(row) \(step)"
                    new.setText(value, key)
                    new.setInteger(Int64(step), number)
                    if let old = shown[row] {
                        var previous = RowSnapshot(columnCount: entity.columns.count)
                        previous.setText(old, key)
                        if Bool.random(using: &random) {
                            var columns = ColumnSet()
                            columns.insert(key)
                            changes.updated.append(UpdatedRow(key: row, row: new, previous: previous, columns: columns))
                            shown[row] = value
                        } else {
                            changes.deleted.append(StoredRow(key: row, row: previous))
                            shown[row] = nil
                        }
                    } else {
                        changes.inserted.append(StoredRow(key: row, row: new))
                        shown[row] = value
                    }
                }
                if isLarge { #expect(changes.rowCount >= 1_024, "large enough for an index of its own") }
                _ = try root.accept(ChangeSet(entities: [changes]), from: sources[place])
            }
            for row in Int64.random(in: 1...3_900, using: &random)..<4_001 where row % 50 == 0 {
                let found = try root.rows.row(entity: entity.index, key: row).row
                #expect(found.map { $0.text(key) } == shown[row], "seed \(seed), step \(step)")
                guard let value = shown[row] else { continue }
                let same = try root.rows.row(
                    entity: entity.index, constraint: constraint, values: [.text(value)], entity
                )
                .row
                #expect(same?.key == row, "seed \(seed), step \(step)")
            }
            let all = try root.rows.rows(RowQuery(entity: entity.index), entity).rows
            #expect(Dictionary(all.map { ($0.key, $0.row.text(key)) }) { $1 } == shown, "seed \(seed), step \(step)")
            #expect(all.count == shown.count, "each is there once; seed \(seed), step \(step)")
        }
    }

    /// Random links of rows that are stored and pending, in small saves and in large ones, compared with a look at all rows.
    @Test(arguments: 0..<8)
    func pendingRowsAreFoundByWhereTheyLead(round: UInt64) throws {
        let seed = testSeed() &+ round
        var random = SeededRandom(seed: seed)
        let layout = ModelLayout(.graph)
        let entity = try #require(layout.entity(named: "Letter"))
        let topic = try #require(entity.column(named: "topic"))
        let root = RootTier(layout, store: InMemoryStore(layout)) {}
        var shown: [Int64: Int64?] = [:]
        let name = try #require(entity.column(named: "key"))
        func row(_ key: Int64, _ end: Int64?) -> RowSnapshot {
            var row = RowSnapshot(columnCount: entity.columns.count)
            row.setText("\(key)", name)
            if let end { row.setInteger(end, topic) }
            return row
        }
        for step in 0..<60 {
            if step % 7 == 6 { try root.flushAndWait() }
            let isLarge = Int.random(in: 0..<8, using: &random) == 0
            var changes = EntityChanges(entity: entity.index)
            var used: Set<Int64> = []
            for _ in 0..<(isLarge ? 4_000 : 8) {
                let key = Int64.random(in: 1...3_000, using: &random)
                guard used.insert(key).inserted else { continue }
                let end = Int.random(in: 0..<5, using: &random) == 0 ? nil : Int64.random(in: 1...300, using: &random)
                if let old = shown[key] {
                    if Int.random(in: 0..<3, using: &random) == 0 {
                        changes.deleted.append(StoredRow(key: key, row: row(key, old)))
                        shown[key] = nil
                        continue
                    }
                    var columns = ColumnSet()
                    columns.insert(topic)
                    changes.updated.append(
                        UpdatedRow(key: key, row: row(key, end), previous: row(key, old), columns: columns))
                } else {
                    changes.inserted.append(StoredRow(key: key, row: row(key, end)))
                }
                shown[key] = .some(end)
            }
            _ = try root.accept(ChangeSet(entities: [changes]))
            for _ in 0..<8 {
                let ends = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    Int64.random(in: 1...300, using: &random)
                }
                let wanted = shown.filter { $0.value.map(ends.contains) ?? false }.keys.sorted()
                let predicate: RowPredicate =
                    ends.count == 1
                    ? .compare(column: topic, .equal, .integer(ends[0]))
                    : .isMember(.column(topic), ValueList(ends.map { .integer($0) }, .natural))
                let found = try root.rows.rows(RowQuery(entity: entity.index, predicate: predicate), entity).rows
                #expect(found.map(\.key) == wanted, "seed \(seed), step \(step)")
                let first = RowQuery(entity: entity.index, predicate: predicate, limit: 2, offset: 1)
                let window = try root.rows.rows(first, entity).rows.map(\.key)
                #expect(window == Array(wanted.dropFirst().prefix(2)), "seed \(seed), step \(step)")
            }
        }
    }
}

/// Makes a save in the middle of a read.
private func waitForSave(of senders: SenderDataSource) throws {
    let isSaved = Gate()
    Task.detached {
        _ = try? await senders.add(ItemData(key: "late", number: 0), waitFor: .main)
        isSaved.open()
    }
    isSaved.wait()
}
