internal import Foundation
internal import RowStore

// Functions of captured lists, of to-many relationships, and of strings.

extension PredicateExpressions.SequenceContains: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        let element = try scope.lower(element)
        guard case .captured(let list) = try scope.lower(sequence), PlainType.isEquatable(RHS.Output.self),
            // A range can have too many numbers to count.
            list is any StoredElements, case .list(let values) = try FetchExpression(captured: list)
        else { throw NotQueryable(construct: "contains(_:) of \(LHS.Output.self)") }
        var elements = values.filter { !$0.isNotANumber }
        if elements.contains(.constant(.null)) { try element.checkIsNumber(RHS.Output.self) }
        let spellings = elements.compactMap(\.spellings)
        let options: StringOptions = spellings.count == elements.count ? [] : .characters
        if options.isEmpty { elements = spellings.flatMap(\.self) }
        guard case .value(let value, let valueForNil?) = element else {
            return .condition(.isIn(try element.expression(), .list(elements), options))
        }
        let node = PredicateTree.Node.isIn(value, .list(elements), options)
        // Nil is read as `valueForNil`, so nil matches if the list contains this value. Compare by value, because negative
        // zero equals zero.
        let matchesNil = elements.contains {
            if case .constant(let constant) = $0 { valueForNil.order(to: constant) == 0 } else { false }
        }
        return .condition(matchesNil ? .any([node, value.isNil]) : node)
    }
}

extension PredicateExpressions.SequenceContainsWhere: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        if let some = try lowerSubquery(in: scope, of: sequence, variable: variable.key, test: test) {
            return .condition(some.isNotEmpty)
        }
        return .condition(.any(try lowerEach(in: scope, of: sequence, variable: variable.key, test: test)))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        if let failing = try lowerSubquery(
            in: scope, of: sequence, variable: variable.key, test: test, isNegated: true)
        {
            return .condition(.negation(failing.isNotEmpty))
        }
        return .condition(.all(try lowerEach(in: scope, of: sequence, variable: variable.key, test: test)))
    }
}

extension PredicateExpressions.Filter: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        guard let some = try lowerSubquery(in: scope, of: sequence, variable: variable.key, test: filter) else {
            throw NotQueryable(construct: ".filter")
        }
        return .objects(some.objects, some.type)
    }
}

/// The objects of a to-many relationship that match a predicate.
private struct LoweredSubquery {
    let objects: FetchExpression
    let type: any QueriedObject.Type

    var isNotEmpty: PredicateTree.Node {
        .compare(.path(objects, ["@count"]), .greater, .constant(.integer(0)), [])
    }
}

/// - Returns: Nil for a list that is not a relationship.
private func lowerSubquery(
    in scope: LoweringScope, of list: any PredicateExpression, variable: PredicateExpressions.VariableID,
    test: any PredicateExpression, isNegated: Bool = false
) throws(NotQueryable) -> LoweredSubquery? {
    guard let list = list as? any QueryableExpression, case .objects(let objects, let type) = try list.lowered(scope)
    else { return nil }
    // A filter of a filter becomes one subquery with both predicates.
    var (all, name, earlier) = (objects, scope.nextVariable, PredicateTree.Node.constant(true))
    if case .subquery(let first, let variable, let test) = objects { (all, name, earlier) = (first, variable, test) }
    let condition = try scope.binding(variable, to: .related(.variable(name), type)).condition(test)
    let wanted = isNegated ? PredicateTree.Node.negation(condition) : condition
    return LoweredSubquery(objects: .subquery(all, variable: name, .all([earlier, wanted])), type: type)
}

/// Returns a predicate for each element of a captured list.
private func lowerEach<List: PredicateExpression>(
    in scope: LoweringScope, of list: List, variable: PredicateExpressions.VariableID, test: any PredicateExpression
) throws(NotQueryable) -> [PredicateTree.Node] where List.Output: Sequence {
    let tooMany = NotQueryable(construct: "a closure over \(List.Output.self)")
    guard case .captured(let captured) = try scope.lower(list), let elements = captured as? List.Output else {
        throw tooMany
    }
    if let range = elements as? any EndlessRange, !range.hasNumbers(maxElements) { throw tooMany }
    var nodes: [PredicateTree.Node] = []
    // A range can have too many numbers to count.
    for element in elements {
        if nodes.count == maxElements { throw tooMany }
        nodes.append(try scope.binding(variable, to: .captured(element)).condition(test))
    }
    return nodes
}

/// The longest list whose elements become separate predicates.
private let maxElements = 500

extension PredicateExpressions.SequenceStartsWith: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        guard Base.Output.self == String.self, Prefix.Output.self == String.self else {
            throw NotQueryable(construct: "starts(with:) of \(Base.Output.self)")
        }
        let base = try scope.lower(base)
        let prefix = try scope.value(prefix)
        let test = try lowerText(base, .beginsWith, prefix)
        guard case .value(let text, _) = base, case .constant(.text(let start)) = prefix, start.hasSingleSpelling,
            !start.isEmpty
        else { return .condition(test) }
        // An index can find strings by the bytes at their start. Then only the found strings are compared character by
        // character.
        return .condition(.all([.text(text, .beginsWith, prefix, []), test]))
    }
}

extension PredicateExpressions.CollectionContainsCollection: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        guard Base.Output.self == String.self, Other.Output.self == String.self else {
            throw NotQueryable(construct: "contains(_:) of \(Base.Output.self)")
        }
        return .condition(try lowerText(scope.lower(base), .contains, scope.value(other)))
    }
}

/// A comparison of strings character by character, as in Swift.
private func lowerText(
    _ text: LoweredPart, _ operation: StringOperator, _ other: FetchExpression
) throws(NotQueryable) -> PredicateTree.Node {
    // Nil is read as an empty string, which contains only the empty string. So nil does not match a constant that is not
    // empty.
    if case .value(let value, .text?) = text, case .constant(.text(let constant)) = other, !constant.isEmpty {
        return .text(value, operation, other, .characters)
    }
    return .text(try text.expression(), operation, other, .characters)
}

/// A node of Foundation's predicates that reads a property.
private protocol PropertyNode {
    /// Whether the value of the property is an object, or a collection of objects.
    var leadsToObjects: Bool { get }
}

extension PredicateExpressions.KeyPath: PropertyNode {
    fileprivate var leadsToObjects: Bool {
        optionalObject(Output.self) != nil || Output.self is any RelatedCollection.Type
    }
}

/// Whether a predicate reads a property that leads to other objects. Captured values are not searched.
func readsRelatedObjects(_ predicate: any PredicateExpression) -> Bool {
    // Use a stack instead of recursion, because a predicate can have any length.
    var rest: [any PredicateExpression] = [predicate]
    while let expression = rest.popLast() {
        if let property = expression as? any PropertyNode, property.leadsToObjects { return true }
        rest += Mirror(reflecting: expression).children.compactMap { $0.value as? any PredicateExpression }
    }
    return false
}
