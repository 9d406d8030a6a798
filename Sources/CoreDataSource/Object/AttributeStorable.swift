public import QueryLanguage
internal import RowStore

/// A Swift type that an attribute can have.
///
/// Generated code calls the requirements, through ``ManagedObject/attribute(at:)``. A non-optional type reads nil as its zero:
/// 0, false, an empty string or data, the reference date, the zero UUID, `about:blank`.
///
/// An enum with raw values of such a type conforms without an implementation. The user info `swiftType` = `TaskState` of an
/// attribute in the model gives its property that type:
///
/// ```swift
/// enum TaskState: String, AttributeStorable { case open, done }
///
/// try tasks.fetch(TaskEntity.self, where: \.state == .open)
/// ```
///
/// It is stored, compared and sorted as its raw value. A stored value without a case is reported as damaged. It reads as nil if
/// the property is optional, otherwise as the attribute's default value in the model. `swiftType` = `Int` makes the property of
/// an Integer 64 an `Int`. User info never changes the model's hash.
nonisolated public protocol AttributeStorable: StoredValueConvertible {
    /// The value of a column of an object. A column without a value reads as the type's zero, or as nil if the type is
    /// optional.
    static func read(from object: ManagedObject, at column: Int) -> Self
    /// The value; nil if there is none, or if the stored value does not have the type, which is reported. A type that
    /// implements ``read(from:at:)`` needs no implementation of this, unless it has raw values.
    static func readIfPresent(from object: ManagedObject, at column: Int) -> Self?
    /// Sets a column of an object that can be edited.
    static func write(_ value: Self, to object: ManagedObject, at column: Int)
}

extension ManagedObject {
    /// The value of a column, by its index in `ManagedObjectModel.columns(of:)`. For generated code.
    ///
    /// A column that is derived along relationships is read with ``calculatedAttribute(at:)``.
    @inlinable
    public final func attribute<Value: AttributeStorable>(at column: Int) -> Value {
        Value.read(from: self, at: column)
    }

    /// Sets the value of a column, by its index. For generated code.
    @inlinable
    public final func setAttribute<Value: AttributeStorable>(_ value: Value, at column: Int) {
        Value.write(value, to: self, at: column)
    }
}

extension ManagedObject {
    /// The value that replaces one that cannot be read; nil if the value could be read.
    final func damaged<Value>(_ column: Int, _ value: Value) -> Value {
        if !row.isNull(column) { noteDamage(column) }
        return value
    }
}

extension AttributeStorable {
    @inlinable
    public static func readIfPresent(from object: ManagedObject, at column: Int) -> Self? {
        object.isNil(at: column) ? nil : read(from: object, at: column)
    }
}

extension Optional: AttributeStorable where Wrapped: AttributeStorable {
    @inlinable
    public static func read(from object: ManagedObject, at column: Int) -> Wrapped? {
        Wrapped.readIfPresent(from: object, at: column)
    }

    @inlinable
    public static func write(_ value: Wrapped?, to object: ManagedObject, at column: Int) {
        if let value { Wrapped.write(value, to: object, at: column) } else { object.setNil(at: column) }
    }
}

extension ManagedObject {
    /// Whether a column holds nil. For generated code.
    public final func isNil(at column: Int) -> Bool {
        checkExists(column)
        if row.isNull(column) {
            checkIsKept(column)
            return true
        }
        return column < home.storages.count && home.storages[column] == .blob && !hasBytes(column)
    }

    /// Sets a column to nil. For generated code.
    public final func setNil(at column: Int) {
        checkExists(column)
        setNull(column)
    }
}
