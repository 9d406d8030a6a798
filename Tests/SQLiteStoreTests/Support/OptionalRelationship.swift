import ManagedModel

/// An optional relationship.
///
/// - Parameter identifier: Its name in the older version of the model, if that is another one.
func relationship(
    _ name: String, _ destination: String, _ inverse: String? = nil, isToMany: Bool = false, isOrdered: Bool = false,
    from identifier: String? = nil
) -> RelationshipDescription {
    RelationshipDescription(
        name: name, destinationName: destination, inverseName: inverse, isToMany: isToMany, isOrdered: isOrdered,
        isOptional: true, renamingIdentifier: identifier)
}
