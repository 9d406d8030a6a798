package import ManagedModel

/// The meaning of a value, if its storage does not determine it.
package enum ValueKind: Sendable, Hashable {
    case boolean, integer, real
    /// A string of digits, ordered by value.
    case decimal
    /// Seconds.
    case date
    case text, uri, uuid, data
    /// Bytes that can only be compared for equality.
    case transformable
    case objectID

    package init?(_ type: AttributeType) {
        switch type {
        case .integer16, .integer32, .integer64: self = .integer
        case .boolean: self = .boolean
        case .double, .float: self = .real
        case .decimal: self = .decimal
        case .date: self = .date
        case .string: self = .text
        case .uri: self = .uri
        case .uuid: self = .uuid
        case .binary: self = .data
        case .transformable, .undefined: self = .transformable
        case .objectID: self = .objectID
        case .composite: return nil
        }
    }

    package var storage: ColumnStorage {
        switch self {
        case .boolean, .integer, .objectID: .integer
        case .real, .date: .real
        case .decimal, .text, .uri: .text
        case .uuid, .data, .transformable: .blob
        }
    }

    /// Whether it can be calculated with.
    package var isNumber: Bool { self == .integer || self == .real || self == .decimal || self == .boolean }

    /// Whether its values have an order.
    package var isOrdered: Bool { self != .transformable && self != .objectID }

    /// Its name in a message.
    package var name: String {
        switch self {
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .real: "a real number"
        case .decimal: "a decimal number"
        case .date: "a date"
        case .text: "a string"
        case .uri: "a URI"
        case .uuid: "a UUID"
        case .data: "data"
        case .transformable: "a transformable"
        case .objectID: "an object"
        }
    }
}
