internal import RowStore

extension FetchCondition {
    /// The attribute has one of the values.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ values: some Sequence<Value>
    ) -> Self {
        Self(.isIn(keyPath, values))
    }

    /// The attribute is at least the lower bound and at most the upper one.
    public static func isIn<Value: AttributeStorable & Comparable>(
        _ keyPath: KeyPath<Object, Value>, _ range: ClosedRange<Value>
    ) -> Self {
        between(keyPath, range.lowerBound, range.upperBound)
    }

    /// The attribute is at least the lower bound and at most the upper one.
    public static func isIn<Value: AttributeStorable & Comparable>(
        _ keyPath: KeyPath<Object, Value?>, _ range: ClosedRange<Value>
    ) -> Self {
        between(keyPath, range.lowerBound, range.upperBound)
    }

    /// The attribute is at least the lower bound and less than the upper one.
    public static func isIn<Value: AttributeStorable & Comparable>(
        _ keyPath: KeyPath<Object, Value>, _ range: Range<Value>
    ) -> Self {
        keyPath >= range.lowerBound && keyPath < range.upperBound
    }

    /// The attribute is at least the lower bound and less than the upper one.
    public static func isIn<Value: AttributeStorable & Comparable>(
        _ keyPath: KeyPath<Object, Value?>, _ range: Range<Value>
    ) -> Self {
        keyPath >= range.lowerBound && keyPath < range.upperBound
    }

    private static func between<Value: AttributeStorable>(
        _ keyPath: AnyKeyPath, _ low: Value, _ high: Value
    ) -> Self {
        Self(
            .named(keyPath, Object.self) {
                .between($0, .constant(FetchValue(low)), .constant(FetchValue(high)), [])
            })
    }
}
