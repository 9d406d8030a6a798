internal import Foundation
internal import RowStore

/// Transformables are Codable values, stored as JSON with sorted keys, so that equal values have equal bytes.
extension ManagedObject {
    /// The value of a transformable column; nil if there is none, or if the stored data cannot be decoded as that type.
    public final func transformable<Value: Codable & Sendable>(at column: Int) -> Value? {
        if isNil(at: column) { return nil }
        do {
            return try JSONDecoder().decode(Value.self, from: Data.read(from: self, at: column))
        } catch {
            return damaged(column, nil)
        }
    }

    /// Sets a transformable column. A value that cannot be encoded makes the save throw `validationFailed`.
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
                    "\(layout.name).\(layout.columns[column].name) was set to a value that cannot be encoded as JSON. Change the type of the attribute.",
                    entityName: layout.name, attributeName: layout.columns[column].name, cause: "\(error)"))
        }
    }
}
