package import RowStore

/// A value in the form in which the store keeps it.
public struct StoredValue: Sendable, Hashable {
    package let value: RowValue

    package init(_ value: RowValue) {
        self.value = value
    }
}

/// A Swift type whose values the store can compare.
nonisolated public protocol StoredValueConvertible: Sendable {
    /// The value in the form in which the store compares it.
    var storedValue: StoredValue { get }
}
