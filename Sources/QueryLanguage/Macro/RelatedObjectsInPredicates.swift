internal import Foundation

/// A node of Foundation's predicates that reads a property.
private protocol PropertyNode {
    /// Whether the property is an object, or a collection of objects.
    var leadsToObjects: Bool { get }
}

extension PredicateExpressions.KeyPath: PropertyNode {
    fileprivate var leadsToObjects: Bool {
        Output.self is any OptionalObject.Type || Output.self is any RelatedCollection.Type
    }
}

/// Whether a predicate reads a property that leads to other objects. The values that it holds are not looked at.
func readsRelatedObjects(_ predicate: any PredicateExpression) -> Bool {
    // A stack instead of recursion, because a predicate can have any length.
    var rest: [any PredicateExpression] = [predicate]
    while let expression = rest.popLast() {
        if let property = expression as? any PropertyNode, property.leadsToObjects { return true }
        rest += Mirror(reflecting: expression).children.compactMap { $0.value as? any PredicateExpression }
    }
    return false
}
