public import Foundation
internal import QueryLanguage
internal import RowStore

// Integers and booleans are integers in the store; dates, floats and doubles are reals. Negative zero is stored as zero,
// as SQLite does.

extension Int16: AttributeStorable {}
extension Int32: AttributeStorable {}
extension Int64: AttributeStorable {}
extension Int: AttributeStorable {}

extension AttributeStorable where Self: FixedWidthInteger {
    /// The value of a column of an object; zero if there is none. A stored value that the type cannot hold is reported.
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
