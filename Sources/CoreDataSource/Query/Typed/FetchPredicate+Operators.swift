internal import QueryLanguage
internal import RowStore

extension FetchPredicate {
    /// An attribute compared with a value.
    static func compare<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ comparison: ComparisonOperator, _ value: Value
    ) -> Self {
        named(keyPath) { .compare($0, comparison, .constant(FetchValue(value)), []) }
    }

    /// A predicate about the attribute that a key path leads to.
    static func named(_ keyPath: AnyKeyPath, _ node: (FetchExpression) -> PredicateTree.Node) -> Self {
        Self(.named(keyPath, Object.self, node))
    }
}

/// The attribute is not true.
public prefix func ! <Object: ManagedObject>(keyPath: KeyPath<Object, Bool>) -> FetchPredicate<Object> {
    keyPath != true
}

/// The attribute has the value; nil means that it has no value.
public func == <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .equal, value)
}

/// The attribute has another value, or none.
public func != <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .notEqual, value)
}

/// The attribute is less than the value; false if it has no value.
public func < <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .less, value)
}

/// The attribute is less than or equal to the value; false if it has no value.
public func <= <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .lessOrEqual, value)
}

/// The attribute is greater than the value; false if it has no value.
public func > <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .greater, value)
}

/// The attribute is greater than or equal to the value; false if it has no value.
public func >= <Object: ManagedObject, Value: AttributeStorable>(
    keyPath: KeyPath<Object, Value>, value: Value
) -> FetchPredicate<Object> {
    .compare(keyPath, .greaterOrEqual, value)
}

/// The range contains the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: ClosedRange<Value>, keyPath: KeyPath<Object, Value>
) -> FetchPredicate<Object> {
    .isIn(keyPath, range)
}

/// The range contains the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: Range<Value>, keyPath: KeyPath<Object, Value>
) -> FetchPredicate<Object> {
    .isIn(keyPath, range)
}

/// The range contains the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: ClosedRange<Value>, keyPath: KeyPath<Object, Value?>
) -> FetchPredicate<Object> {
    .isIn(keyPath, range)
}

/// The range contains the attribute.
public func ~= <Object: ManagedObject, Value: AttributeStorable & Comparable>(
    range: Range<Value>, keyPath: KeyPath<Object, Value?>
) -> FetchPredicate<Object> {
    .isIn(keyPath, range)
}
