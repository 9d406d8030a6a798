import CoreDataSource
import ManagedModel
import RowStore
import TestSupport

/// Items of three entities that are edited at random, and what a list of them has to show, found out in the plainest way.
struct ListWorld {
    struct Item: Equatable {
        var entity: Int
        var number: Int64
        var text: String?

        init(entity: Int, number: Int64, text: String?) {
            (self.entity, self.number, self.text) = (entity, number, text)
        }

        /// What a cell shows, read back.
        init(_ content: String) {
            let words = content.split(separator: " ")
            self.init(
                entity: 0, number: words.first.flatMap { Int64($0) } ?? 0,
                text: words.last.flatMap { $0 == "nil" ? nil : String($0) })
        }
    }

    /// A query, and the same in plain words.
    struct Plan {
        var query: ListQuery
        /// Where the list begins; nil for the first.
        var start: (key: Int64, item: Item)? {
            didSet {
                query.start = start.map {
                    ListedRow(entity: $0.item.entity, key: $0.key, row: ListWorld.row($0.key, $0.item))
                }
            }
        }
        var isListed: @Sendable (Item) -> Bool
        var precedes: @Sendable ((key: Int64, item: Item), (key: Int64, item: Item)) -> Bool
        /// The name of an item's section; nil if there are none.
        var section: (@Sendable (Item) -> String)?
    }

    static let layout = ModelLayout(.chat)
    static let base = layout.entity(named: "Item")!
    static let entities = ["Sender", "Room", "Message"].map { layout.entity(named: $0)!.index }
    private static let keyColumn = base.column(named: "key")!
    static let numberColumn = base.column(named: "number")!
    static let textColumn = base.column(named: "text")!

    private(set) var items: [Int64: Item] = [:]
    private var lastKey: Int64 = 0
    private(set) var lastSave: SaveNumber = 0

    // MARK: Rows

    static func row(_ key: Int64, _ item: Item) -> RowSnapshot {
        var row = RowSnapshot(columnCount: layout.entities[item.entity].columns.count)
        row.setText("k\(key)", keyColumn)
        row.setInteger(item.number, numberColumn)
        if let text = item.text { row.setText(text, textColumn) }
        return row
    }

    static func content(_ row: RowSnapshot) -> String {
        "\(row.integer(numberColumn)) \(row.isNull(textColumn) ? "nil" : row.text(textColumn))"
    }

    /// What a fetch finds, without a limit.
    func rows(_ plan: Plan) -> [ListedRow] {
        listed(plan).map { ListedRow(entity: $0.item.entity, key: $0.key, row: Self.row($0.key, $0.item)) }
    }

    private func listed(_ plan: Plan) -> [(key: Int64, item: Item)] {
        items.filter { plan.isListed($0.value) }.map { (key: $0.key, item: $0.value) }
            .filter { item in plan.start.map { plan.precedes($0, item) } ?? true }.sorted(by: plan.precedes)
    }

    /// The place of an item that is there, or was never; sometimes nil.
    func place(_ random: inout SeededRandom) -> (key: Int64, item: Item)? {
        switch random.next(below: 4) {
        case 0: nil
        case 1:
            (
                Int64(random.next(below: Int(lastKey) + 2)),
                Item(entity: Self.entities[0], number: Self.number(&random), text: Self.text(&random))
            )
        default: items.sorted { $0.key < $1.key }.randomElement(using: &random).map { (key: $0.key, item: $0.value) }
        }
    }

    /// What has to be on the screen.
    func shown(_ plan: Plan) -> ShownList {
        var sections: [ShownList.Section] = plan.section == nil ? [ShownList.Section(name: "", rows: [])] : []
        for (key, item) in listed(plan).prefix(plan.query.limit ?? .max) {
            let name = plan.section?(item) ?? ""
            if sections.last?.name != name { sections.append(ShownList.Section(name: name, rows: [])) }
            let content = "\(item.number) \(item.text ?? "nil")"
            sections[sections.count - 1].rows.append(ShownList.Row(key: key, content: content))
        }
        return ShownList(sections: sections)
    }

    // MARK: States

    /// The list as it is when its rows have been read.
    func state(_ plan: Plan) -> ListState {
        let rows = rows(plan)
        let isWindow = !plan.query.keepsAllRows
        let held = isWindow ? Array(rows.prefix(plan.query.maxKeptRows)) : rows
        return ListState(
            plan.query, RowStorage(held, sizes: .tiny), isComplete: !isWindow || rows.count < held.count + 1,
            asOf: lastSave)
    }

    /// The rows that follow those of a list that is too short.
    func tail(of head: ListState, _ plan: Plan) -> RowTail {
        let rows = rows(plan).filter { row in head.lastKeptRow.map { plan.query.order.precedes($0, row) } ?? true }
        return RowTail(
            Array(rows.prefix(head.missingCount)), isLast: rows.count < head.missingCount, asOf: lastSave)
    }

    // MARK: Saves

    /// Empties the store.
    mutating func reset() { items = [:] }

    /// Some inserts, edits and deletes as one save.
    mutating func save(_ random: inout SeededRandom) -> ChangeSet {
        let before = items
        let count = random.next(below: 40) == 0 ? 30 : 1 + random.next(below: 4)
        for _ in 0..<count { edit(&random) }
        lastSave = lastSave.next
        var changes = ChangeSet(entities: Self.entities.map { self.changes($0, since: before) }.filter { !$0.isEmpty })
        changes.saveNumber = lastSave
        return changes
    }

    private mutating func edit(_ random: inout SeededRandom) {
        // Keeps the number of items about what it is.
        let target = 14
        if items.isEmpty || random.next(below: 2 * target) >= items.count + target / 2 {
            lastKey += 1
            let entity = Self.entities[random.next(below: 3)]
            items[lastKey] = Item(entity: entity, number: Self.number(&random), text: Self.text(&random))
            return
        }
        let keys = items.keys.sorted()
        let key = keys[random.next(below: keys.count)]
        switch random.next(below: 6) {
        case 0, 1: items[key] = nil
        case 2, 3: items[key]?.number = Self.number(&random)
        case 4: items[key]?.text = Self.text(&random)
        default:
            // Two change places.
            let other = keys[random.next(below: keys.count)]
            let number = items[key]!.number
            items[key]!.number = items[other]!.number
            items[other]!.number = number
        }
    }

    private static func number(_ random: inout SeededRandom) -> Int64 { Int64(random.next(below: 10)) }

    private static func text(_ random: inout SeededRandom) -> String? {
        [nil, "a", "ab", "b", "é"][random.next(below: 5)]
    }

    private func changes(_ entity: Int, since before: [Int64: Item]) -> EntityChanges {
        var changes = EntityChanges(entity: entity)
        for key in Set(before.keys).union(items.keys).sorted() {
            switch (before[key], items[key]) {
            case (nil, let item?) where item.entity == entity:
                changes.inserted.append(StoredRow(key: key, row: Self.row(key, item)))
            case (let item?, nil) where item.entity == entity:
                changes.deleted.append(StoredRow(key: key, row: Self.row(key, item)))
            case (let old?, let new?) where old.entity == entity && old != new:
                var columns = ColumnSet()
                if old.number != new.number { columns.insert(Self.numberColumn) }
                if old.text != new.text { columns.insert(Self.textColumn) }
                changes.updated.append(
                    UpdatedRow(key: key, row: Self.row(key, new), previous: Self.row(key, old), columns: columns))
            default: break
            }
        }
        return changes
    }
}
