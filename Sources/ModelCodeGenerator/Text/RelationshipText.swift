/// Writes the property of a relationship.
struct RelationshipText {
    let relationship: RelationshipPlan

    func write(to text: inout SourceText, modifiers: String) {
        if relationship.name != relationship.relationshipName {
            text.documentation(["The relationship `\(relationship.relationshipName)`."])
        }
        let (index, destination) = (relationship.index, relationship.destination)
        let opening = "\(modifiers)var \(Identifier.escaped(relationship.name)): "
        switch relationship.kind {
        case .toMany:
            text.line("\(opening)RelatedObjects<\(destination)> { relatedObjects(at: \(index)) }")
        case .toOne:
            text.line(
                "\(opening)\(destination)? { get { relatedObject(at: \(index)) } set { setRelatedObject(newValue, at: \(index)) } }"
            )
        case .ordered:
            text.line(
                "\(opening)[\(destination)] { get { relatedList(at: \(index)) } set { setRelatedList(newValue, at: \(index)) } }"
            )
        }
    }
}
