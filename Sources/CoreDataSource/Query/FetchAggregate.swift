public import Foundation
internal import QueryLanguage
internal import RowStore

/// A number type that can be summed and averaged.
nonisolated public protocol SummableAttribute: AttributeStorable {
    /// The type of a sum; the number type itself by default.
    associatedtype Sum: AttributeStorable = Self
    /// The type of an average; `Double` by default.
    associatedtype Average: AttributeStorable = Double
}

extension Int16: SummableAttribute {
    public typealias Sum = Int64
}
extension Int32: SummableAttribute {
    public typealias Sum = Int64
}
extension Int64: SummableAttribute {}
extension Int: SummableAttribute {}
extension Float: SummableAttribute {
    public typealias Sum = Double
}
extension Double: SummableAttribute {}
extension Decimal: SummableAttribute {
    public typealias Average = Decimal
}
extension Optional: SummableAttribute where Wrapped: SummableAttribute {
    public typealias Sum = Wrapped.Sum
    public typealias Average = Wrapped.Average
}

/// A calculation over the objects of a request. Nil values are ignored.
///
/// ```swift
/// let (count, oldest) = try contacts.main.aggregate(
///     ObjectRequest<ContactEntity>(), .count(), .max(\.age))
/// ```
///
/// The result does not depend on the order of the objects. Sums are exact, and a sum of reals is rounded once, at the end.
public struct FetchAggregate<Object: ManagedObject, Result: AttributeStorable>: Sendable {
    let operation: Aggregation.Operation
    /// The attribute; nil to count the objects themselves.
    let attribute: Swift.Result<FetchExpression, DataSourceError>?

    private init(_ operation: Aggregation.Operation, _ keyPath: AnyKeyPath?) {
        self.operation = operation
        attribute = keyPath.map { FetchExpression.attribute($0, of: Object.self) }
    }

    /// The number of objects.
    ///
    /// ```swift
    /// let count = try context.aggregate(ObjectRequest<ContactEntity>(), .count())
    /// // 3
    /// ```
    public static func count() -> FetchAggregate where Result == Int { FetchAggregate(.count, nil) }

    /// The number of objects whose attribute is not nil.
    ///
    /// ```swift
    /// let reachable = try context.aggregate(
    ///     ObjectRequest<ContactEntity>(), .count(\.phone))  // 1
    /// ```
    public static func count<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>
    ) -> FetchAggregate where Result == Int { FetchAggregate(.count, keyPath) }

    /// The sum of an attribute; zero if no object has a value.
    ///
    /// ```swift
    /// let years = try context.aggregate(ObjectRequest<ContactEntity>(), .sum(\.age))
    /// // 75
    /// ```
    ///
    /// A key path through a relationship must begin with the class: `.sum(\MessageEntity.thread?.rank)`.
    public static func sum<Value: SummableAttribute>(
        _ keyPath: KeyPath<Object, Value>
    ) -> FetchAggregate where Result == Value.Sum { FetchAggregate(.sum, keyPath) }

    /// The average of an attribute; nil if no object has a value. The average of decimals has 38 digits.
    ///
    /// ```swift
    /// let average = try context.aggregate(
    ///     ObjectRequest<ContactEntity>(), .average(\.age))  // 25.0
    /// ```
    public static func average<Value: SummableAttribute>(
        _ keyPath: KeyPath<Object, Value>
    ) -> FetchAggregate where Result == Value.Average? { FetchAggregate(.average, keyPath) }

    /// The least value of an attribute; nil if no object has a value. Strings are compared byte by byte.
    ///
    /// ```swift
    /// let youngest = try context.aggregate(
    ///     ObjectRequest<ContactEntity>(), .min(\.age))  // 16
    /// ```
    public static func min<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>
    ) -> FetchAggregate where Result == Value? { FetchAggregate(.min, keyPath) }

    /// The least value of an optional attribute; nil if no object has a value.
    ///
    /// ```swift
    /// let phone = try context.aggregate(ObjectRequest<ContactEntity>(), .min(\.phone))
    /// // 110
    /// ```
    public static func min<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>
    ) -> FetchAggregate where Result == Value? { FetchAggregate(.min, keyPath) }

    /// The greatest value of an attribute; nil if no object has a value. Strings are compared byte by byte.
    ///
    /// ```swift
    /// let oldest = try context.aggregate(ObjectRequest<ContactEntity>(), .max(\.age))
    /// // 32
    /// ```
    public static func max<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>
    ) -> FetchAggregate where Result == Value? { FetchAggregate(.max, keyPath) }

    /// The greatest value of an optional attribute; nil if no object has a value.
    ///
    /// ```swift
    /// let phone = try context.aggregate(ObjectRequest<ContactEntity>(), .max(\.phone))
    /// // 110
    /// ```
    public static func max<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>
    ) -> FetchAggregate where Result == Value? { FetchAggregate(.max, keyPath) }
}
