internal import Foundation
internal import RowStore

extension FetchValue {
    /// The value in the form in which the store keeps it.
    var rowValue: RowValue {
        switch self {
        case .null: .null
        case .boolean(let value): value.storedValue.value
        case .integer(let value): .integer(value)
        case .double(let value): .real(value)
        case .decimal(let value): value.isNaN ? .real(.nan) : value.storedValue.value
        case .text(let value): .text(value)
        case .date(let value): value.storedValue.value
        case .data(let value): value.storedValue.value
        case .uuid(let value): value.storedValue.value
        case .url(let value): value.storedValue.value
        case .objectID(_, let key): .integer(key)
        case .stored(let value): value.value
        }
    }

    /// What the value means; nil for null.
    var kind: ValueKind? {
        switch self {
        case .null: nil
        case .boolean: .boolean
        case .integer: .integer
        case .double: .real
        case .decimal: .decimal
        case .text: .text
        case .date: .date
        case .data: .data
        case .uuid: .uuid
        case .url: .uri
        case .objectID: .objectID
        case .stored(let value): value.value.plainKind
        }
    }
}

extension RowValue {
    /// The kind of a value of which only the storage is known.
    fileprivate var plainKind: ValueKind? {
        switch self {
        case .null: nil
        case .integer: .integer
        case .real: .real
        case .text: .text
        case .blob: .data
        }
    }
}
