import CoreDataSource
import ManagedModel
import RowStore
import TestSupport

extension ListWorld.Plan {
    /// A query drawn from all kinds of predicates, sort keys, sections and limits.
    init(_ random: inout SeededRandom) {
        let bound = Int64(3 + random.next(below: 9))
        let predicate: RowPredicate =
            bound > 9 ? .constant(true) : .compare(column: ListWorld.numberColumn, .less, .integer(bound))
        let sorting = random.next(below: 5)
        let sectioning = random.next(below: 4)
        let limit: Int? = [nil, nil, 3, 8][random.next(below: 4)]
        let order = ListOrder(
            ListWorld.base, sort: Self.sorts[sorting], section: sectioning == 0 ? nil : Self.sections[sectioning - 1])
        // The first sort key decides the direction of sections by the same attribute.
        let isDescending = sectioning == 1 && sorting == 3 || sectioning == 2 && sorting == 2
        query = ListQuery(ListWorld.base, predicate: predicate, order: order, limit: limit, reserve: 4)
        isListed = { bound > 9 || $0.number < bound }
        precedes = { one, other in
            let sections = sectioning == 0 ? 0 : Self.order(one.item, other.item, sectioning)
            if sections != 0 { return isDescending ? sections > 0 : sections < 0 }
            for order in Self.orders(one.item, other.item, sorting) where order != 0 { return order < 0 }
            return one.key < other.key
        }
        if sectioning > 0 { section = { item in Self.sectionName(item, sectioning) } }
    }

    /// Has the list depend on related rows. With a limit it is read after each save then.
    mutating func followRelatedRows() {
        query = ListQuery(
            ListWorld.base, predicate: query.predicate, joined: [JoinedColumn(.outerKey, .integer)], order: query.order,
            limit: query.limit)
    }

    private static let number = ListWorld.numberColumn
    private static let text = ListWorld.textColumn

    private static let sorts: [[SortKey]] = [
        [], [SortKey(column: number)], [SortKey(column: number, isAscending: false)],
        [SortKey(column: text, isAscending: false), SortKey(column: number)],
        [SortKey(column: number), SortKey(column: text)],
    ]

    private static func orders(_ one: ListWorld.Item, _ other: ListWorld.Item, _ sorting: Int) -> [Int] {
        let numbers = order(one.number, other.number)
        let texts = order(one.text, other.text)
        return [[], [numbers], [-numbers], [-texts, numbers], [numbers, texts]][sorting]
    }

    private static let sections: [SectionKey] = [
        .column(text), .column(number),
        .computed(SectionKey.ComputedSection { .integer($0.row.integer(number) % 3) }),
    ]

    private static func order(_ one: ListWorld.Item, _ other: ListWorld.Item, _ sectioning: Int) -> Int {
        switch sectioning {
        case 1: order(one.text, other.text)
        case 2: order(one.number, other.number)
        default: order(one.number % 3, other.number % 3)
        }
    }

    private static func sectionName(_ item: ListWorld.Item, _ sectioning: Int) -> String {
        switch sectioning {
        case 1: item.text ?? ""
        case 2: "\(item.number)"
        default: "\(item.number % 3)"
        }
    }

    private static func order(_ one: Int64, _ other: Int64) -> Int { one < other ? -1 : one > other ? 1 : 0 }

    private static func order(_ one: String?, _ other: String?) -> Int {
        guard let one, let other else { return one == nil ? (other == nil ? 0 : -1) : 1 }
        return one.utf8.lexicographicallyPrecedes(other.utf8) ? -1 : one == other ? 0 : 1
    }
}
