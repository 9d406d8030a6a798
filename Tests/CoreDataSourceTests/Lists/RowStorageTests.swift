import CoreDataSource
import TestSupport
import Testing

/// Where the rows of a list are found.
struct RowStorageTests {
    private static let order = ListOrder(ListWorld.base, sort: [.init(column: ListWorld.numberColumn)])

    private static func row(_ key: Int64, number: Int64) -> ListedRow {
        let item = ListWorld.Item(entity: ListWorld.entities[0], number: number, text: nil)
        return ListedRow(entity: item.entity, key: key, row: ListWorld.row(key, item))
    }

    /// Ten rows for each number, in several chunks.
    private let rows = RowStorage((0..<2_000).map { row($0, number: $0 / 10) })

    @Test func everyRowIsFoundWhereItIs() {
        for key in 0..<2_000 {
            let row = Self.row(Int64(key), number: Int64(key / 10))
            #expect(rows.index(of: row, Self.order) == key)
            #expect(rows.lowerBound(row, Self.order) == key)
        }
    }

    /// As after a save that was discarded: the list has the row, but not as the next save says that it was.
    @Test(arguments: [Int64(0), 99, 101, 199, 1_000])
    func aRowThatIsHeldWithAnotherValueIsNotFound(number: Int64) {
        #expect(rows.index(of: Self.row(1_005, number: number), Self.order) == nil)
        #expect(rows.index(of: Self.row(1_005, number: 100), Self.order) == 1_005)
    }

    @Test func aRowThatIsNotHeldIsNotFound() {
        #expect(rows.index(of: Self.row(2_000, number: 50), Self.order) == nil)
        #expect(rows.index(of: Self.row(2_000, number: 2_000), Self.order) == nil)
        #expect(RowStorage([]).index(of: Self.row(1, number: 1), Self.order) == nil)
    }
}
