internal import QueryLanguage
internal import RowStore

// Enums, and other types with raw values, are stored as their raw values.

extension AttributeStorable where Self: RawRepresentable, RawValue: AttributeStorable {
    /// The case of the stored raw value. If there is none: the attribute's default value in the model, else the case with the
    /// raw value 0, else the first of all cases. Traps if none of these exists.
    public static func read(from object: ManagedObject, at column: Int) -> Self {
        readIfPresent(from: object, at: column) ?? standIn(object.layout, column)
    }

    public static func readIfPresent(from object: ManagedObject, at column: Int) -> Self? {
        if object.isNil(at: column) { return nil }
        let raw = RawValue.read(from: object, at: column)
        // A number that does not fit its type was truncated.
        if case .integer(let number) = raw.storedValue.value, number != object.row.integer(column) { return nil }
        return Self(rawValue: raw) ?? object.damaged(column, nil)
    }

    public static func write(_ value: Self, to object: ManagedObject, at column: Int) {
        RawValue.write(value.rawValue, to: object, at: column)
    }

    private static func standIn(_ layout: EntityLayout, _ column: Int) -> Self {
        let raw = layout.columns[column].attribute.flatMap(RowValue.init(defaultOf:)).flatMap(rawValue)
        if let value = raw.flatMap(Self.init(rawValue:)) ?? rawValue(.integer(0)).flatMap(Self.init(rawValue:)) {
            return value
        }
        if let value = (Self.self as? any CaseIterable.Type).flatMap({ firstCase($0) }) as? Self { return value }
        preconditionFailure(
            "\(layout.name).\(layout.columns[column].name) has a stored value that is not a case of \(Self.self), and no default. In the model, give the attribute a default value that is the raw value of a case or make it optional, or make \(Self.self) CaseIterable."
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
