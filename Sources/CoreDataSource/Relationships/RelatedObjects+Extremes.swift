internal import Foundation
internal import QueryLanguage
internal import RowStore

/// The least and the greatest value of the objects, in code and along key paths: `\ThreadEntity.messages[max: \.date]`.
extension RelatedObjects {
    /// The greatest value of an attribute; nil if there are no objects. Strings are compared by their bytes.
    ///
    /// In `values`, in an order and in an aggregate, the store calculates it, and no object is made:
    ///
    /// ```swift
    /// let threads = try context.values(FetchRequest<ThreadEntity>(), \.title, \.messages.count, \.messages[max: \.date])
    /// ```
    ///
    /// - Complexity: O(n) in the number of objects, and one query for those that are not registered.
    public subscript<Value: AttributeStorable>(max keyPath: KeyPath<Object, Value>) -> Value? {
        extreme(of: map { $0[keyPath: keyPath] }, isGreatest: true)
    }

    /// The greatest value of an optional attribute; nil if no object has a value.
    public subscript<Value: AttributeStorable>(max keyPath: KeyPath<Object, Value?>) -> Value? {
        extreme(of: compactMap { $0[keyPath: keyPath] }, isGreatest: true)
    }

    /// The least value of an attribute; nil if there are no objects. Strings are compared by their bytes.
    ///
    /// - Complexity: As for the greatest value.
    public subscript<Value: AttributeStorable>(min keyPath: KeyPath<Object, Value>) -> Value? {
        extreme(of: map { $0[keyPath: keyPath] }, isGreatest: false)
    }

    /// The least value of an optional attribute; nil if no object has a value.
    public subscript<Value: AttributeStorable>(min keyPath: KeyPath<Object, Value?>) -> Value? {
        extreme(of: compactMap { $0[keyPath: keyPath] }, isGreatest: false)
    }

    /// Compares the stored forms of the values, as the store does.
    private func extreme<Value: AttributeStorable>(of values: [Value], isGreatest: Bool) -> Value? {
        let order: ValueOrder = Value.self == Decimal.self ? .decimal : .natural
        var found: (value: Value, stored: RowValue)?
        for value in values {
            let stored = value.storedValue.value
            if stored == .null { continue }
            if let found, let order = order.compare(stored, found.stored), isGreatest ? order <= 0 : order >= 0 {
                continue
            }
            found = (value, stored)
        }
        return found?.value
    }
}

/// The value of an optional attribute.
private protocol OptionalAttribute {
    static func extremes<Object: ManagedObject>(_ keyPath: AnyKeyPath, of type: Object.Type) -> [(AnyKeyPath, String)]
}

extension Optional: OptionalAttribute where Wrapped: AttributeStorable {
    fileprivate static func extremes<Object: ManagedObject>(
        _ keyPath: AnyKeyPath, of type: Object.Type
    ) -> [(AnyKeyPath, String)] {
        guard let keyPath = keyPath as? KeyPath<Object, Wrapped?> else { return [] }
        return [(\RelatedObjects<Object>[max: keyPath], "@max"), (\RelatedObjects<Object>[min: keyPath], "@min")]
    }
}

extension RelatedObjects {
    /// The key paths to values that are calculated from the objects, with their names.
    package static var aggregates: [(keyPath: AnyKeyPath, names: [String])] {
        var found: [(keyPath: AnyKeyPath, names: [String])] = [(\Self.count, ["@count"])]
        for (keyPath, name) in AttributeNames.of(Object.self) {
            for (extreme, function) in extremes(keyPath) {
                found.append((extreme, [function] + name.parts(separatedBy: ".", omittingEmpty: true)))
            }
        }
        return found
    }

    private static func extremes(_ keyPath: AnyKeyPath) -> [(AnyKeyPath, String)] {
        let type = type(of: keyPath).valueType
        if let optional = type as? any OptionalAttribute.Type { return optional.extremes(keyPath, of: Object.self) }
        return (type as? any AttributeStorable.Type).map { extremes(keyPath, $0) } ?? []
    }

    private static func extremes<Value: AttributeStorable>(
        _ keyPath: AnyKeyPath, _ type: Value.Type
    ) -> [(AnyKeyPath, String)] {
        guard let keyPath = keyPath as? KeyPath<Object, Value> else { return [] }
        return [(\Self[max: keyPath], "@max"), (\Self[min: keyPath], "@min")]
    }
}
