/// Whether a list or a range has the attribute.
extension FetchCondition {
    /// The attribute has one of the values.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ values: some Sequence<Value>
    ) -> Self {
        Self(.isIn(keyPath, values))
    }

    /// The optional attribute has one of the values.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ values: some Sequence<Value>
    ) -> Self {
        Self(.isIn(keyPath, values))
    }

    /// The range holds the attribute.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ range: some AttributeRange<Value>
    ) -> Self {
        Self(.isIn(keyPath, range))
    }

    /// The range holds the optional attribute.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ range: some AttributeRange<Value>
    ) -> Self {
        Self(.isIn(keyPath, range))
    }

    /// The range of integers, which is a sequence as well, holds the attribute.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value>, _ range: some AttributeRange<Value> & Sequence<Value>
    ) -> Self {
        Self(.isIn(keyPath, range))
    }

    /// The range of integers, which is a sequence as well, holds the optional attribute.
    public static func isIn<Value: AttributeStorable>(
        _ keyPath: KeyPath<Object, Value?>, _ range: some AttributeRange<Value> & Sequence<Value>
    ) -> Self {
        Self(.isIn(keyPath, range))
    }
}
