internal import QueryLanguage

/// Tests whether a list or a range contains the attribute.
extension FetchPredicate {
    /// The attribute is one of the values.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ values: some Sequence<Value>
    ) -> Self {
        list(keyPath, values)
    }

    /// The optional attribute is one of the values.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ values: some Sequence<Value>
    ) -> Self {
        list(keyPath, values)
    }

    /// The range contains the attribute.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ range: some AttributeRange<Value>
    ) -> Self {
        bounded(keyPath, range.attributeBounds)
    }

    /// The range contains the optional attribute.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ range: some AttributeRange<Value>
    ) -> Self {
        bounded(keyPath, range.attributeBounds)
    }

    /// The range of integers, which is also a sequence, contains the attribute.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ range: some AttributeRange<Value> & Sequence<Value>
    ) -> Self {
        bounded(keyPath, range.attributeBounds)
    }

    /// The range of integers, which is also a sequence, contains the optional attribute.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ range: some AttributeRange<Value> & Sequence<Value>
    ) -> Self {
        bounded(keyPath, range.attributeBounds)
    }

    private static func list<Value: AttributeStorable>(
        _ keyPath: AnyKeyPath, _ values: some Sequence<Value>
    ) -> Self {
        named(keyPath) { .isIn($0, .list(values.map { .constant(FetchValue($0)) }), []) }
    }

    private static func bounded<Value: AttributeStorable>(
        _ keyPath: AnyKeyPath, _ bounds: AttributeBounds<Value>
    ) -> Self {
        let lower = bounds.lower.map { FetchExpression.constant(FetchValue($0)) }
        let upper = bounds.upper.map { FetchExpression.constant(FetchValue($0)) }
        return named(keyPath) { attribute in
            if let lower, let upper, bounds.includesUpper { return .between(attribute, lower, upper, []) }
            let isReached = lower.map { PredicateTree.Node.compare(attribute, .greaterOrEqual, $0, []) }
            let isLeft = upper.map {
                PredicateTree.Node.compare(attribute, bounds.includesUpper ? .lessOrEqual : .less, $0, [])
            }
            return .all([isReached, isLeft].compactMap { $0 })
        }
    }
}
