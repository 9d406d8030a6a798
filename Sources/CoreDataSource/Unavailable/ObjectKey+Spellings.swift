/// A key whose property can be nil, although each object has a key.
extension ObjectKey {
    /// Unavailable. The key of a value must not be optional.
    @available(
        *, unavailable,
        message:
            "Each object has a key, but a value may have none. Make the property of the value non-optional, and leave out values without a key."
    )
    public init<Key: AttributeStorable>(
        _ property: any KeyPath<Value, Key?> & Sendable, _ attribute: any KeyPath<Object, Key> & Sendable
    ) {
        find = { _, _ in nil }
        findOrInsert = { try $1.insert(Object.self) }
        preload = { _, _ in }
    }
}
