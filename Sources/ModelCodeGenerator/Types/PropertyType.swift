/// The Swift type of a property, and the accessor of `ManagedObject` that reads it.
struct PropertyType {
    enum Accessor {
        /// `attribute(at:)` and `setAttribute(_:at:)`.
        case attribute
        /// `transformable(at:)` and `setTransformable(_:at:)`.
        case transformable
        /// The generated struct of a composite, which reads its leaves itself.
        case composite
    }

    var name: String
    var isOptional: Bool
    var accessor: Accessor
    var needsFoundation: Bool
    /// The type that its raw values must have, if it is a type of the app that is stored by its raw values.
    var rawType: String?

    var spelling: String { isOptional ? name + "?" : name }

    /// The stored form of a value: the value itself, or its raw value, which is checked to have the attribute's type.
    ///
    /// - Parameter isOptional: Whether the expression of the value is optional.
    func stored(_ value: String, isOptional: Bool) -> String {
        guard let rawType else { return value }
        func raw(_ value: String) -> String {
            // Integer 64 also takes the raw values of Int.
            rawType == "Int64" ? "Int64(truncatingIfNeeded: \(value).rawValue)" : "\(value).rawValue as \(rawType)"
        }
        if !isOptional { return raw(value) }
        let optional = value.contains("?") ? "(\(value))" : value
        return "\(optional).map { \(raw("$0")) }"
    }
}
