public import ManagedModel

/// A set of columns. A column is identified by its index in ``EntityLayout/columns``.
public struct ColumnSet: Sendable, Hashable {
    private var low: UInt64 = 0
    /// The bits of the columns from index 64 on, with 64 columns in each word; empty for most entities.
    private var high: [UInt64] = []

    /// Makes an empty set.
    ///
    /// ```swift
    /// var columns = ColumnSet()
    /// columns.insert(2)
    /// ```
    public init() {}

    /// Whether the set has no columns.
    public var isEmpty: Bool { low == 0 && high.allSatisfy { $0 == 0 } }

    /// Returns whether the set has the column.
    ///
    /// ```swift
    /// if update.columns.contains(nameColumn) { print("The name changed.") }
    /// ```
    public func contains(_ column: Int) -> Bool {
        if column < 64 { return low & (1 << UInt64(column)) != 0 }
        let word = column / 64 - 1
        return word < high.count && high[word] & (1 << UInt64(column % 64)) != 0
    }

    /// Returns whether the closure returns true for each word of 64 columns that is not zero.
    func allWords(_ predicate: (_ word: Int, _ bits: UInt64) -> Bool) -> Bool {
        (low == 0 || predicate(0, low)) && high.indices.allSatisfy { high[$0] == 0 || predicate($0 + 1, high[$0]) }
    }

    /// Adds a column.
    ///
    /// ```swift
    /// if let nameColumn = layout.column(named: "name") { columns.insert(nameColumn) }
    /// ```
    public mutating func insert(_ column: Int) {
        if column < 64 {
            low |= 1 << UInt64(column)
            return
        }
        let word = column / 64 - 1
        while high.count <= word { high.append(0) }
        high[word] |= 1 << UInt64(column % 64)
    }

    package mutating func formUnion(_ other: ColumnSet) {
        low |= other.low
        while high.count < other.high.count { high.append(0) }
        for (word, bits) in other.high.enumerated() { high[word] |= bits }
    }

    package func union(_ other: ColumnSet) -> ColumnSet {
        var union = self
        union.formUnion(other)
        return union
    }
}

/// The four ways to store a value, both in memory and in the store.
public enum ColumnStorage: UInt8, Sendable {
    /// ``RowValue/integer(_:)``: integers, Booleans, and keys of other rows.
    case integer
    /// ``RowValue/real(_:)``: floating-point numbers, and dates as seconds since 2001-01-01 UTC.
    case real
    /// ``RowValue/text(_:)``: strings, decimal numbers and URIs, in UTF-8.
    case text
    /// ``RowValue/blob(_:)``: binary data, UUIDs, transformable and composite values.
    case blob

    /// The storage for the values of an attribute type.
    ///
    /// ```swift
    /// let storage = ColumnStorage(.date)  // .real
    /// ```
    public init(_ type: AttributeType) {
        switch type {
        case .integer16, .integer32, .integer64, .boolean, .objectID: self = .integer
        case .double, .float, .date: self = .real
        case .string, .decimal, .uri: self = .text
        case .binary, .uuid, .transformable, .undefined, .composite: self = .blob
        }
    }
}
