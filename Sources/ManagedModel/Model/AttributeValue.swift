public import Foundation

/// A default value or a bound, as it is written in a model.
public enum AttributeValue: Sendable, Hashable {
    /// True or false.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A real number.
    case double(Double)
    /// A decimal number.
    case decimal(Decimal)
    /// A string; an empty one is a value.
    case string(String)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(TimeInterval)
    /// A UUID.
    case uuid(UUID)
}
