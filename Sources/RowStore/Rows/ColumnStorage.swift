public import ManagedModel

/// The four ways in which a value is stored, in memory and in the store.
public enum ColumnStorage: UInt8, Sendable {
    /// ``RowValue/integer(_:)``: integers, Booleans, and keys of other rows.
    case integer
    /// ``RowValue/real(_:)``: floating-point numbers, and dates as seconds since 2001-01-01 UTC.
    case real
    /// ``RowValue/text(_:)``: strings, decimal numbers and URIs, in UTF-8.
    case text
    /// ``RowValue/blob(_:)``: binary data, UUIDs, transformable and composite values.
    case blob

    /// How values of an attribute with that type are stored.
    public init(_ type: AttributeType) {
        switch type {
        case .integer16, .integer32, .integer64, .boolean, .objectID: self = .integer
        case .double, .float, .date: self = .real
        case .string, .decimal, .uri: self = .text
        case .binary, .uuid, .transformable, .undefined, .composite: self = .blob
        }
    }
}
