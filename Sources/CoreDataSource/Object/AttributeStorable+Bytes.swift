public import Foundation
internal import QueryLanguage
internal import RowStore

// Strings, decimals and URLs are text in the store; data and UUIDs are blobs.

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
