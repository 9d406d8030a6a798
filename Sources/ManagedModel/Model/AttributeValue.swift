public import Foundation

/// A default value or a bound, as a model spells it.
public enum AttributeValue: Sendable, Hashable {
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(TimeInterval)
    case uuid(UUID)
}
