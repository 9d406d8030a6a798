/// The Swift type of a property, and which of `ManagedObject`'s accessors reads it.
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

    var spelling: String { isOptional ? name + "?" : name }
}
