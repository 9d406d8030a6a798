public import Foundation
public import QueryLanguage
internal import RowStore

/// A Swift type for attributes.
///
/// Generated code calls the requirements through ``ManagedObject/attribute(at:)``. If the type is not optional, nil is read as
/// the zero of the type: 0, false, an empty string or data, the reference date, the zero UUID, or `about:blank`.
///
/// An enum conforms without an implementation if the type of its raw values conforms. To give a generated property the type of
/// the enum, set the user info `swiftType` = `TaskState` of the attribute in the model:
///
/// ```swift
/// enum TaskState: String, AttributeStorable { case open, done }
///
/// let openTasks: FetchPredicate<TaskEntity> = \.state == .open
/// ```
///
/// The enum is stored, compared and sorted as its raw value. A stored value that belongs to no case is reported as damaged. The
/// property is then nil if it is optional. Otherwise, the property is the first of these that exists: the attribute's default
/// value in the model, the case with the raw value 0, the first case in `allCases`. With `swiftType` = `Int`, the property of
/// an Integer 64 attribute is an `Int`. User info never changes the model's hash.
///
/// **Isolation**: the requirements run in the context of the object.
nonisolated public protocol AttributeStorable: StoredValueConvertible, GroupableProperty where GroupKey == Self {
    /// Reads a column of an object. If the column has no value, the result is the type's zero, or nil if the type is optional.
    static func read(from object: ManagedObject, at column: Int) -> Self
    /// Reads a column of an object; nil if the column has no value. An enum also returns nil, and reports the value, if
    /// no case has the stored raw value.
    ///
    /// A type that has no raw values and implements ``read(from:at:)`` does not need to implement this requirement.
    static func readIfPresent(from object: ManagedObject, at column: Int) -> Self?
    /// Sets a column of an object. Traps if the object cannot be edited.
    static func write(_ value: Self, to object: ManagedObject, at column: Int)
}

extension ManagedObject {
    /// The value of a column. The index is that of `ManagedObjectModel.columns(of:)`. For generated code.
    ///
    /// ```swift
    /// var subject: String {
    ///     get { attribute(at: 5) }
    ///     set { setAttribute(newValue, at: 5) }
    /// }
    /// ```
    ///
    /// If a column is derived along relationships, read it with ``calculatedAttribute(at:)`` instead.
    @inlinable
    public final func attribute<Value: AttributeStorable>(at column: Int) -> Value {
        Value.read(from: self, at: column)
    }

    /// Sets the value of a column. The index is that of `ManagedObjectModel.columns(of:)`. For generated code.
    ///
    /// ```swift
    /// var subject: String {
    ///     get { attribute(at: 5) }
    ///     set { setAttribute(newValue, at: 5) }
    /// }
    /// ```
    @inlinable
    public final func setAttribute<Value: AttributeStorable>(_ value: Value, at column: Int) {
        Value.write(value, to: self, at: column)
    }
}

extension ManagedObject {
    /// Reports a stored value that cannot be read, and returns the value to use instead. A column without a value is not
    /// reported.
    final func damaged<Value>(_ column: Int, _ value: Value) -> Value {
        if !row.isNull(column) { recordDamage(column) }
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
    /// Whether the value of a column is nil. For generated code.
    ///
    /// ```swift
    /// var hasPriority: Bool { !isNil(at: 3) }
    /// ```
    public final func isNil(at column: Int) -> Bool {
        checkExists(column)
        if row.isNull(column) {
            checkIsKept(column)
            return true
        }
        return column < home.storages.count && home.storages[column] == .blob && !hasBytes(column)
    }

    /// Sets a column to nil. For generated code.
    ///
    /// ```swift
    /// func forgetPriority() { setNil(at: 3) }
    /// ```
    public final func setNil(at column: Int) {
        checkExists(column)
        setNull(column)
    }
}

/// Transformable values are `Codable`. They are stored as JSON with sorted keys, so that equal values have equal bytes.
extension ManagedObject {
    /// Decodes the value of a transformable column. Returns nil if the column has no value, or if its data cannot be decoded as
    /// the type.
    ///
    /// ```swift
    /// var labels: [String]? {
    ///     get { transformable(at: 2) }
    ///     set { setTransformable(newValue, at: 2) }
    /// }
    /// ```
    ///
    /// Data that cannot be decoded is reported. **Complexity**: each call decodes the JSON again.
    public final func transformable<Value: Codable & Sendable>(at column: Int) -> Value? {
        if isNil(at: column) { return nil }
        do {
            return try JSONDecoder().decode(Value.self, from: Data.read(from: self, at: column))
        } catch {
            return damaged(column, nil)
        }
    }

    /// Sets a transformable column. If the value cannot be encoded, the next save throws `validationFailed`.
    ///
    /// ```swift
    /// var labels: [String]? {
    ///     get { transformable(at: 2) }
    ///     set { setTransformable(newValue, at: 2) }
    /// }
    /// ```
    ///
    /// **Complexity**: each call encodes the value.
    public final func setTransformable<Value: Codable & Sendable>(_ value: Value?, at column: Int) {
        guard let value else { return setNil(at: column) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            Data.write(try encoder.encode(value), to: self, at: column)
        } catch {
            home.context?.refuse(
                DataSourceError(
                    .validationFailed,
                    "\(layout.name).\(layout.columns[column].name) was set to a value that cannot be encoded as JSON. Set another value, or change the type of the attribute.",
                    entityName: layout.name, attributeName: layout.columns[column].name, cause: "\(error)"))
        }
    }
}

// Strings, decimals and URLs are stored as TEXT; data and UUIDs as BLOB.

extension String: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> String {
        object.check(column, .text, String.self)
        return object.row.validText(column) ?? object.damaged(column, object.row.text(column))
    }

    public static func write(_ value: String, to object: ManagedObject, at column: Int) {
        object.check(column, .text, String.self)
        var value = value
        value.withUTF8 { object.setBytes(UnsafeRawBufferPointer($0), column) }
    }
}

extension Decimal: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Decimal {
        object.check(column, .text, Decimal.self)
        return object.row.decimal(column) ?? object.damaged(column, 0)
    }

    public static func write(_ value: Decimal, to object: ManagedObject, at column: Int) {
        String.write(value.canonicalText, to: object, at: column)
    }
}

extension URL: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> URL {
        object.check(column, .text, URL.self)
        return URL(string: object.row.text(column)) ?? object.damaged(column, blank)
    }

    public static func write(_ value: URL, to object: ManagedObject, at column: Int) {
        String.write(value.absoluteString, to: object, at: column)
    }
}

private let blank = URL(string: "about:blank") ?? URL(fileURLWithPath: "/")

extension Data: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Data {
        object.check(column, .blob, Data.self)
        return object.hasBytes(column) ? object.row.withBytes(column) { Data($0) } : Data()
    }

    public static func write(_ value: Data, to object: ManagedObject, at column: Int) {
        object.check(column, .blob, Data.self)
        value.withUnsafeBytes { object.setBytes($0, column) }
    }
}

extension UUID: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> UUID {
        object.check(column, .blob, UUID.self)
        guard object.hasBytes(column) else { return UUID(uuid: zero) }
        return object.row.withBytes(column) { bytes in
            bytes.count == 16
                ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : object.damaged(column, UUID(uuid: zero))
        }
    }

    public static func write(_ value: UUID, to object: ManagedObject, at column: Int) {
        object.check(column, .blob, UUID.self)
        withUnsafeBytes(of: value.uuid) { object.setBytes($0, column) }
    }
}

private let zero: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

// Integers and booleans are stored as INTEGER; dates, floats and doubles as REAL. Negative zero is stored as zero, like in
// SQLite.

extension Int16: AttributeStorable {}
extension Int32: AttributeStorable {}
extension Int64: AttributeStorable {}
extension Int: AttributeStorable {}

extension AttributeStorable where Self: FixedWidthInteger {
    /// Reads a column of an object; zero if the column has no value. A stored value that does not fit the type is reported.
    public static func read(from object: ManagedObject, at column: Int) -> Self {
        object.check(column, .integer, Self.self)
        let value = object.row.integer(column)
        return Self(exactly: value) ?? object.damaged(column, Self(truncatingIfNeeded: value))
    }

    public static func write(_ value: Self, to object: ManagedObject, at column: Int) {
        object.check(column, .integer, Self.self)
        object.setWord(UInt64(bitPattern: Int64(value)), column)
    }
}

extension Bool: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Bool {
        object.check(column, .integer, Bool.self)
        return object.row.integer(column) != 0
    }

    public static func write(_ value: Bool, to object: ManagedObject, at column: Int) {
        object.check(column, .integer, Bool.self)
        object.setWord(value ? 1 : 0, column)
    }
}

extension Double: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Double {
        object.check(column, .real, Double.self)
        return object.row.real(column)
    }

    public static func write(_ value: Double, to object: ManagedObject, at column: Int) {
        object.check(column, .real, Double.self)
        object.setReal(value, column)
    }
}

extension Float: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Float {
        object.check(column, .real, Float.self)
        return Float(object.row.real(column))
    }

    public static func write(_ value: Float, to object: ManagedObject, at column: Int) {
        object.check(column, .real, Float.self)
        object.setReal(Double(value), column)
    }
}

extension Date: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Date {
        object.check(column, .real, Date.self)
        return Date(timeIntervalSinceReferenceDate: object.row.real(column))
    }

    public static func write(_ value: Date, to object: ManagedObject, at column: Int) {
        object.check(column, .real, Date.self)
        object.setReal(value.timeIntervalSinceReferenceDate, column)
    }
}

// Enums, and other types with raw values, are stored as their raw values.

extension AttributeStorable where Self: RawRepresentable, RawValue: AttributeStorable {
    /// Reads the case with the stored raw value.
    ///
    /// If the column has no value, or if no case has the stored raw value, the result is the first of these that
    /// exists: the attribute's default value in the model, the case with the raw value 0, the first case in `allCases`.
    /// Traps if none exists.
    public static func read(from object: ManagedObject, at column: Int) -> Self {
        readIfPresent(from: object, at: column) ?? fallbackCase(object.layout, column)
    }

    public static func readIfPresent(from object: ManagedObject, at column: Int) -> Self? {
        if object.isNil(at: column) { return nil }
        let raw = RawValue.read(from: object, at: column)
        // A number that does not fit the raw type was truncated, so no case has the stored raw value.
        if case .integer(let number) = raw.storedValue.value, number != object.row.integer(column) { return nil }
        return Self(rawValue: raw) ?? object.damaged(column, nil)
    }

    public static func write(_ value: Self, to object: ManagedObject, at column: Int) {
        RawValue.write(value.rawValue, to: object, at: column)
    }

    private static func fallbackCase(_ layout: EntityLayout, _ column: Int) -> Self {
        let raw = layout.columns[column].attribute.flatMap(RowValue.init(defaultOf:)).flatMap(rawValue)
        if let value = raw.flatMap(Self.init(rawValue:)) ?? rawValue(.integer(0)).flatMap(Self.init(rawValue:)) {
            return value
        }
        if let value = (Self.self as? any CaseIterable.Type).flatMap({ firstCase($0) }) as? Self { return value }
        preconditionFailure(
            "\(layout.name).\(layout.columns[column].name) has no value or a value that is not a case of \(Self.self), and no default. In the model, give the attribute a default value that is the raw value of a case or make it optional, or make \(Self.self) CaseIterable."
        )
    }

    private static func rawValue(_ value: RowValue) -> RawValue? {
        switch value {
        case .text(let text): text as? RawValue
        case .real(let number): number as? RawValue
        case .integer(let number):
            (RawValue.self as? any FixedWidthInteger.Type).flatMap { exactly($0, number) } as? RawValue
        default: nil
        }
    }
}

private func firstCase<Value: CaseIterable>(_ type: Value.Type) -> Any? { type.allCases.first }

private func exactly<Integer: FixedWidthInteger>(_ type: Integer.Type, _ number: Int64) -> Any? {
    Integer(exactly: number)
}
