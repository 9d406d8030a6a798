public import Foundation
internal import RowStore

// Integers and booleans are integers in the store; dates, floats and doubles are reals. Negative zero is stored as zero,
// as SQLite does.

extension Int16: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Int16 {
        let value = object.row.integer(column)
        return Int16(exactly: value) ?? object.damaged(column, Int16(truncatingIfNeeded: value))
    }

    public static func write(_ value: Int16, to object: ManagedObject, at column: Int) {
        object.setWord(UInt64(bitPattern: Int64(value)), column)
    }

    public var storedValue: StoredValue { StoredValue(.integer(Int64(self))) }
}

extension Int32: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Int32 {
        let value = object.row.integer(column)
        return Int32(exactly: value) ?? object.damaged(column, Int32(truncatingIfNeeded: value))
    }

    public static func write(_ value: Int32, to object: ManagedObject, at column: Int) {
        object.setWord(UInt64(bitPattern: Int64(value)), column)
    }

    public var storedValue: StoredValue { StoredValue(.integer(Int64(self))) }
}

extension Int64: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Int64 {
        object.row.integer(column)
    }

    public static func write(_ value: Int64, to object: ManagedObject, at column: Int) {
        object.setWord(UInt64(bitPattern: value), column)
    }

    public var storedValue: StoredValue { StoredValue(.integer(self)) }
}

extension Int: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Int {
        let value = object.row.integer(column)
        return Int(exactly: value) ?? object.damaged(column, Int(truncatingIfNeeded: value))
    }

    public static func write(_ value: Int, to object: ManagedObject, at column: Int) {
        object.setWord(UInt64(bitPattern: Int64(value)), column)
    }

    public var storedValue: StoredValue { StoredValue(.integer(Int64(self))) }
}

extension Bool: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Bool {
        object.row.integer(column) != 0
    }

    public static func write(_ value: Bool, to object: ManagedObject, at column: Int) {
        object.setWord(value ? 1 : 0, column)
    }

    public var storedValue: StoredValue { StoredValue(.integer(self ? 1 : 0)) }
}

extension Double: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Double {
        object.row.real(column)
    }

    public static func write(_ value: Double, to object: ManagedObject, at column: Int) {
        object.setReal(value, column)
    }

    public var storedValue: StoredValue { StoredValue(.real(self)) }
}

extension Float: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Float {
        Float(object.row.real(column))
    }

    public static func write(_ value: Float, to object: ManagedObject, at column: Int) {
        object.setReal(Double(value), column)
    }

    public var storedValue: StoredValue { StoredValue(.real(Double(self))) }
}

extension Date: AttributeStorable {
    public static func read(from object: ManagedObject, at column: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: object.row.real(column))
    }

    public static func write(_ value: Date, to object: ManagedObject, at column: Int) {
        object.setReal(value.timeIntervalSinceReferenceDate, column)
    }

    public var storedValue: StoredValue { StoredValue(.real(timeIntervalSinceReferenceDate)) }
}
