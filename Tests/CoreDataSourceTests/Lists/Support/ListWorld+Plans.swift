import CoreDataSource
import ManagedModel
import RowStore
import TestSupport

extension ListWorld.Plan {
    /// A query drawn from all kinds of predicates, sort keys, sections and limits.
    init(_ random: inout SeededRandom) {
        let bound = Int64(3 + random.next(below: 9))
        var predicate: RowPredicate =
            bound > 9 ? .constant(true) : .compare(column: Self.number, .less, .integer(bound))
        let required = Self.requirement(&random)
        if let required { predicate = .and([predicate, required.predicate]) }
        let sorting = random.next(below: 5)
        let sectioning = random.next(below: 4)
        let limit: Int? = [nil, nil, 3, 8][random.next(below: 4)]
        let order = ListOrder(
            ListWorld.base, sort: Self.sorts[sorting], section: sectioning == 0 ? nil : Self.sections[sectioning - 1])
        // The first sort key decides the direction of sections by the same attribute.
        let isDescending = sectioning == 1 && sorting == 3 || sectioning == 2 && sorting == 2
        query = ListQuery(ListWorld.base, predicate: predicate, order: order, limit: limit, reserve: 4)
        isListed = { (bound > 9 || $0.number < bound) && required?.accepts($0) ?? true }
        precedes = { lhs, rhs in
            let sections = sectioning == 0 ? 0 : Self.order(lhs.item, rhs.item, sectioning)
            if sections != 0 { return isDescending ? sections > 0 : sections < 0 }
            for order in Self.orders(lhs.item, rhs.item, sorting) where order != 0 { return order < 0 }
            return lhs.key < rhs.key
        }
        if sectioning > 0 { section = { item in Self.sectionName(item, sectioning) } }
    }

    /// Has the list depend on related rows. With a limit it is read after each save then.
    mutating func followRelatedRows() {
        query = ListQuery(
            ListWorld.base, predicate: query.predicate, joined: [JoinedColumn(.outerKey, .integer)], order: query.order,
            limit: query.limit)
    }

    /// A comparison of columns with constants, and the same in plain words; mostly nil.
    private static func requirement(
        _ random: inout SeededRandom
    ) -> (predicate: RowPredicate, accepts: @Sendable (ListWorld.Item) -> Bool)? {
        // Below every bound, so that some items match all parts of the predicate.
        let (one, other) = (Int64(random.next(below: 3)), Int64(random.next(below: 3)))
        let name: String? = [nil, "a", "ab", "b", "é"][random.next(below: 5)]
        let hasName = RowPredicate.compare(column: text, .equal, name.map { .text($0) } ?? .null)
        switch random.next(below: 10) {
        case 0: return (.compare(column: number, .equal, .integer(one)), { $0.number == one })
        case 1: return (hasName, { $0.text == name })
        case 2:
            return (
                .and([.compare(column: number, .lessOrEqual, .integer(one)), hasName]),
                { $0.number <= one && $0.text == name }
            )
        case 3: return (.isIn(column: number, [.integer(one), .integer(other)]), { [one, other].contains($0.number) })
        case 4:
            return (
                .or([hasName, .compare(column: number, .equal, .integer(one))]), { $0.text == name || $0.number == one }
            )
        default: return nil
        }
    }

    private static let number = ListWorld.numberColumn
    private static let text = ListWorld.textColumn

    private static let sorts: [[SortKey]] = [
        [], [SortKey(column: number)], [SortKey(column: number, isAscending: false)],
        [SortKey(column: text, isAscending: false), SortKey(column: number)],
        [SortKey(column: number), SortKey(column: text)],
    ]

    private static func orders(_ lhs: ListWorld.Item, _ rhs: ListWorld.Item, _ sorting: Int) -> [Int] {
        let numbers = order(lhs.number, rhs.number)
        let texts = order(lhs.text, rhs.text)
        return [[], [numbers], [-numbers], [-texts, numbers], [numbers, texts]][sorting]
    }

    private static let sections: [SectionKey] = [
        .column(text), .column(number),
        .computed(SectionKey.ComputedSection { .integer($0.row.integer(number) % 3) }),
    ]

    private static func order(_ lhs: ListWorld.Item, _ rhs: ListWorld.Item, _ sectioning: Int) -> Int {
        switch sectioning {
        case 1: order(lhs.text, rhs.text)
        case 2: order(lhs.number, rhs.number)
        default: order(lhs.number % 3, rhs.number % 3)
        }
    }

    private static func sectionName(_ item: ListWorld.Item, _ sectioning: Int) -> String {
        switch sectioning {
        case 1: item.text ?? ""
        case 2: "\(item.number)"
        default: "\(item.number % 3)"
        }
    }

    private static func order(_ lhs: Int64, _ rhs: Int64) -> Int { lhs < rhs ? -1 : lhs > rhs ? 1 : 0 }

    private static func order(_ lhs: String?, _ rhs: String?) -> Int {
        guard let lhs, let rhs else { return lhs == nil ? (rhs == nil ? 0 : -1) : 1 }
        return lhs.utf8.lexicographicallyPrecedes(rhs.utf8) ? -1 : lhs == rhs ? 0 : 1
    }
}
