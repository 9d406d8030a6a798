/// The type of an attribute. The raw value is the word in the model file.
public enum AttributeType: String, Sendable, Hashable, CaseIterable {
    /// No type, as of an attribute that names none in the file.
    case undefined = "Undefined"
    /// A whole number of 16 bits, `Int16`.
    case integer16 = "Integer 16"
    /// A whole number of 32 bits, `Int32`.
    case integer32 = "Integer 32"
    /// A whole number of 64 bits, `Int64`.
    case integer64 = "Integer 64"
    /// A decimal number, `Decimal`.
    case decimal = "Decimal"
    /// A real number of 64 bits, `Double`.
    case double = "Double"
    /// A real number of 32 bits, `Float`.
    case float = "Float"
    /// A string, `String`.
    case string = "String"
    /// True or false, `Bool`.
    case boolean = "Boolean"
    /// A moment, `Date`.
    case date = "Date"
    /// Bytes, `Data`.
    case binary = "Binary"
    /// A `UUID`.
    case uuid = "UUID"
    /// A `URL`.
    case uri = "URI"
    /// A `Codable` value of the app, stored as JSON.
    case transformable = "Transformable"
    /// The id of an object. Models do not name this type.
    case objectID = "Object ID"
    /// Several attributes together, described by ``CompositeDescription``.
    case composite = "Composite"
}
