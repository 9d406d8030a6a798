internal import Foundation
internal import RowStore

/// A plain value that is made from a managed object. The value can leave the object's context, but the object cannot.
///
/// ```swift
/// struct ContactValue: ManagedObjectConvertible {
///     var name: String
///
///     init(_ contact: ContactEntity) {
///         name = contact.name
///     }
/// }
///
/// let grown = try await contacts.fetch(
///     as: ContactValue.self,
///     ObjectRequest(where: \.age >= 18, order: [.ascending(\.name)]))
/// ```
///
/// **Isolation**: the initializer runs in the object's context. The compiler does not let the value keep the object.
nonisolated public protocol ManagedObjectConvertible: Sendable {
    /// The class of the objects.
    associatedtype Object: ManagedObject

    /// Makes a value from the values of an object.
    ///
    /// ```swift
    /// init(_ contact: ContactEntity) {
    ///     name = contact.name
    /// }
    /// ```
    ///
    /// - Throws: Any error. The fetch throws the same error.
    init(_ object: Object) throws
}

extension EntityLayout {
    /// Describes an object on one line, for a log.
    func description(_ key: Int64, _ row: RowSnapshot, _ state: ObjectState = .saved) -> String {
        let values = columns.indices.filter { !row.isNull($0) }.map { "\(columns[$0].name) \(value($0, row))" }
        let head = "\(name)/\(key)" + state.note
        return values.isEmpty ? head : head + ": " + values.joined(separator: ", ")
    }

    private func value(_ column: Int, _ row: RowSnapshot) -> String {
        let kind = columns[column].attribute.flatMap { ValueKind($0.type) }
        if columns[column].mayBeDeferred { return "(\(row.blobByteCount(column)) bytes)" }
        switch row.value(column, columns[column].storage) {
        case .null: return "nil"
        case .integer(let number): return kind == .boolean ? "\(number != 0)" : "\(number)"
        case .real(let number):
            return kind == .date ? DateText.display(number) : "\(number)"
        case .text(let string): return kind == .decimal ? string : string.quotedForDescription
        case .blob(let bytes):
            guard kind == .uuid, bytes.count == 16 else { return "(\(bytes.count) bytes)" }
            return bytes.withUnsafeBytes { $0.loadUnaligned(as: UUID.self) }.uuidString
        }
    }
}

extension ObjectState {
    fileprivate var note: String {
        switch self {
        case .saved: ""
        case .inserted: " (inserted)"
        case .edited: " (edited)"
        case .deleted, .gone: " (deleted)"
        }
    }
}

extension String {
    /// The string in quotes. A long string is shortened to its beginning and the number of its characters.
    fileprivate var quotedForDescription: String {
        guard utf8.count > 80, count > 80 else { return debugDescription }
        return String(prefix(60)).debugDescription + "... (\(count) characters)"
    }
}
