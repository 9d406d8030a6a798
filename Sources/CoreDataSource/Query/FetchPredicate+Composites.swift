internal import QueryLanguage

// Comparisons of an optional composite with nil. The parts of a composite are compared by their own key paths.

/// Matches if an optional composite is nil, which means that all of its parts are nil.
///
/// ```swift
/// let request = ObjectRequest(StopEntity.self, where: \.place == nil)
/// ```
///
/// If the key path follows a to-one relationship that leads to no object, the composite is nil, too.
public func == <Object: ManagedObject, Value: CompositeValue>(
    keyPath: KeyPath<Object, Value?>, nothing: _OptionalNilComparisonType
) -> FetchPredicate<Object> {
    .named(keyPath) { .compare($0, .equal, .constant(.null), []) }
}

/// Matches if an optional composite is not nil, which means that at least one of its parts is not nil.
///
/// ```swift
/// let request = ObjectRequest(StopEntity.self, where: \.place != nil)
/// ```
public func != <Object: ManagedObject, Value: CompositeValue>(
    keyPath: KeyPath<Object, Value?>, nothing: _OptionalNilComparisonType
) -> FetchPredicate<Object> {
    .named(keyPath) { .compare($0, .notEqual, .constant(.null), []) }
}
