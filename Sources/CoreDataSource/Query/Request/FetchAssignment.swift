internal import RowStore

/// A value for one attribute of every object of an update.
public struct FetchAssignment<Object: ManagedObject>: Sendable {
    /// What is set to what, if it is an attribute.
    let keyPath: any PartialKeyPath<Object> & Sendable
    let value: RowValue
    let apply: @Sendable (Object) -> Void

    /// Sets the attribute to that value.
    ///
    /// What the property does is asked of one object of each entity, and taken to hold for all. Where a class of your own
    /// decides from object to object, set the property in `perform`.
    public static func set<Value: AttributeStorable>(
        _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable, _ value: Value
    ) -> FetchAssignment {
        FetchAssignment(keyPath: keyPath, value: value.storedValue.value) { $0[keyPath: keyPath] = value }
    }
}
