package import RowStore

/// The values that all rows of a list have in certain columns, because the predicate of the list compares these columns with
/// constants. A row with other values is never in the list.
///
/// For example, all rows of a list with the predicate `\.mailbox == inbox && \.isRead == false` have the key of the inbox in one
/// column, and false in another.
package struct RequiredValues: Sendable, Equatable {
    /// The number in ``columns`` that stands for the row's own key.
    static let keyColumn = -1

    /// The columns, in ascending order.
    package let columns: [Int]
    /// The possible values of the columns. Each row of the list has one of these combinations.
    package let combinations: Set<[RowValue]>

    /// - Returns: Nil if the predicate does not compare a column with constants, or if only one part of an OR does.
    package init?(_ predicate: RowPredicate) {
        var single: [Int: RowValue] = [:]
        var several: (column: Int, values: [RowValue])?
        for part in predicate.requiredParts {
            switch part {
            case .compare(let column, .equal, let value) where Self.isUsable([value], column):
                single[column] = single[column] ?? value
            case .compareKey(.equal, let key): single[Self.keyColumn] = .integer(key)
            case .isIn(let column, let values) where Self.isUsable(values, column):
                several = several ?? (column, values)
            case .isMember(.key, let list) where list.order == .natural && Self.isUsable(list.elements, Self.keyColumn):
                several = several ?? (Self.keyColumn, list.elements)
            default: break
            }
        }
        if !single.isEmpty {
            let chosen = single.sorted { $0.key < $1.key }.prefix(4)
            (columns, combinations) = (chosen.map(\.key), [chosen.map(\.value)])
        } else if let several {
            (columns, combinations) = ([several.column], Set(several.values.map { [$0] }))
        } else {
            return nil
        }
    }

    /// The maximum size, in bytes, of a string or blob in a look-up.
    private static let maxByteCount = 256

    /// Whether the values can be looked up. Long strings and blobs are not looked up, because they would be copied from each row,
    /// and because a row does not always contain its long blobs.
    private static func isUsable(_ values: [RowValue], _ column: Int) -> Bool {
        if JoinedColumn.isJoined(column) || values.count > 16 { return false }
        return values.allSatisfy { value in
            switch value {
            case .blob(let bytes): bytes.count <= maxByteCount
            case .text(let text): text.utf8.count <= maxByteCount
            case .null, .integer, .real: true
            }
        }
    }

    /// Returns the values of a row in some columns; nil if a value is too long for a look-up. Such a value is not copied.
    ///
    /// - Parameter layout: The entity of the list.
    package static func values(
        ofRow key: Int64, _ row: RowSnapshot, in columns: [Int], _ layout: EntityLayout
    ) -> [RowValue]? {
        var values: [RowValue] = []
        values.reserveCapacity(columns.count)
        for column in columns {
            if column == keyColumn {
                values.append(.integer(key))
                continue
            }
            let storage = layout.order(of: column).storage
            switch storage {
            case .blob where row.isDeferred(column): return nil
            case .text, .blob: if row.blobByteCount(column) > maxByteCount { return nil }
            default: break
            }
            values.append(row.value(column, storage))
        }
        return values
    }
}

extension ListQuery {
    /// The values that all rows of the list have in certain columns. Nil if there are none, or if related rows or objects also
    /// determine the rows of the list.
    package var requiredValues: RequiredValues? {
        joined.isEmpty && objectPredicate == nil ? RequiredValues(predicate) : nil
    }
}
