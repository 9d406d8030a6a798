internal import QueryLanguage
internal import RowStore

/// A value for one attribute of every object of an update.
///
/// ```swift
/// try await contacts.update(ContactEntity.self, where: \.age >= 30, set: [.set(\.isFavorite, true)])
/// ```
public struct FetchAssignment<Object: ManagedObject>: Sendable {
    /// The column and its new value, if the key path leads to an attribute.
    let keyPath: any PartialKeyPath<Object> & Sendable
    let value: RowValue
    let apply: @Sendable (Object) -> Void

    /// Sets the attribute to that value.
    ///
    /// The property's setter is called for one object of each entity, and the result is used for all. If your own setter
    /// depends on the object, set the property in `perform`.
    public static func set<Value: AttributeStorable>(
        _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable, _ value: Value
    ) -> FetchAssignment {
        FetchAssignment(keyPath: keyPath, value: value.storedValue.value) { $0[keyPath: keyPath] = value }
    }
}
