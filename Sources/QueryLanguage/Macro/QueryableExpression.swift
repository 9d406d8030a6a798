package import Foundation
internal import RowStore

/// A node of Foundation's predicates that can be lowered to the predicate tree.
///
/// The lowered part has the same value as the node. If Foundation throws or traps, the part is nil. For example, Foundation
/// throws for a forced unwrap of nil, and traps for a sum that overflows.
protocol QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart
}

/// The error for a node that cannot be lowered. The part of the predicate that contains the node is then evaluated on
/// objects.
struct NotQueryable: Error {
    /// The construct that cannot be lowered.
    var construct: String
}

/// The variables of a predicate while it is lowered.
struct LoweringScope {
    /// The class of the objects that the predicate is for.
    let type: any QueriedObject.Type
    let object: PredicateExpressions.VariableID
    /// The lowered parts of the variables of closures.
    private var bound: [PredicateExpressions.VariableID: LoweredPart] = [:]
    /// An unused name for the variable of a subquery inside this scope.
    var nextVariable: String { "object\(bound.count)" }

    init(_ type: any QueriedObject.Type, _ object: PredicateExpressions.VariableID) {
        self.type = type
        self.object = object
    }

    func binding(_ variable: PredicateExpressions.VariableID, to part: LoweredPart) -> LoweringScope {
        var scope = self
        scope.bound[variable] = part
        return scope
    }

    func lower(_ expression: any PredicateExpression) throws(NotQueryable) -> LoweredPart {
        guard let expression = expression as? any QueryableExpression else {
            throw NotQueryable(construct: constructName(expression))
        }
        return try expression.lowered(self)
    }

    func condition(_ expression: any PredicateExpression) throws(NotQueryable) -> PredicateTree.Node {
        try lower(expression).condition()
    }

    func value(_ expression: any PredicateExpression) throws(NotQueryable) -> FetchExpression {
        try lower(expression).expression()
    }

    fileprivate func part(_ variable: PredicateExpressions.VariableID) throws(NotQueryable) -> LoweredPart {
        if variable == object { return .object }
        guard let part = bound[variable] else { throw NotQueryable(construct: "an unknown variable") }
        return part
    }
}

extension PredicateExpressions.Variable: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart { try scope.part(key) }
}

extension PredicateExpressions.Value: QueryableExpression {
    func lowered(_ scope: LoweringScope) -> LoweredPart { .captured(value) }
}

extension PredicateExpressions.NilLiteral: QueryableExpression {
    func lowered(_ scope: LoweringScope) -> LoweredPart { .value(.constant(.null), zero: nil) }
}

extension PredicateExpressions.KeyPath: QueryableExpression {
    func lowered(_ scope: LoweringScope) throws(NotQueryable) -> LoweredPart {
        let root = try scope.lower(root)
        switch root {
        case .object: return try property(of: .object, scope.type)
        case .related(let object, let type): return try property(of: object, type)
        case .objects(let objects, let type): return try property(ofMany: objects, type)
        default: break
        }
        if Root.Output.self == String.self, kind == .collectionIsEmpty {
            return .condition(try root.compared(.equal, .value(.constant(.text("")), zero: nil), isText: true))
        }
        if Root.Output.self == String.self || Root.Output.self == Data.self, kind == .collectionCount {
            return .value(.function(.length, [try root.expression()]), zero: nil)
        }
        throw NotQueryable(construct: propertyName)
    }

    private func property(of object: FetchExpression, _ type: any QueriedObject.Type) throws(NotQueryable)
        -> LoweredPart
    {
        if let name = AttributeNames.of(type)[keyPath] {
            guard PlainType.isEquatable(Output.self) else {
                throw NotQueryable(construct: PlainType.attributeName(name, Output.self))
            }
            return .value(object.appending([name]), zero: PlainType.zero(of: Output.self))
        }
        // An object is compared by its id.
        if (Root.Output.self as? any QueriedObject.Type)?.identification == keyPath {
            return object == .object ? .object : .related(object, type)
        }
        guard let name = type.relationshipKeyPaths[keyPath] else { throw NotQueryable(construct: propertyName) }
        if let destination = optionalObject(Output.self) { return .related(object.appending([name]), destination) }
        guard let destination = Output.self as? any RelatedCollection.Type else {
            throw NotQueryable(construct: propertyName)
        }
        return .objects(object.appending([name]), destination.object)
    }

    private func property(
        ofMany objects: FetchExpression, _ type: any QueriedObject.Type
    ) throws(NotQueryable) -> LoweredPart {
        let count = objects.appending(["@count"])
        if kind == .collectionCount || (Root.Output.self as? any RelatedCollection.Type)?.counting == keyPath {
            return .value(count, zero: nil)
        }
        if kind == .collectionIsEmpty || (Root.Output.self as? any RelatedCollection.Type)?.emptiness == keyPath {
            return .condition(.compare(count, .equal, .constant(.integer(0)), []))
        }
        throw NotQueryable(construct: propertyName)
    }

    /// The name of the property in the source, if the name is known.
    private var propertyName: String {
        switch kind {
        case .collectionCount: ".count"
        case .collectionIsEmpty: ".isEmpty"
        case .collectionFirst: ".first"
        case .bidirectionalCollectionLast: ".last"
        case nil where \String.first == keyPath: ".first"
        case nil where \String.last == keyPath: ".last"
        default: "a property of \(Root.Output.self) of the type \(Output.self), which is not an attribute"
        }
    }
}

extension PredicateTree {
    /// Lowers a predicate of Foundation. Parts that cannot be lowered are evaluated on objects.
    package init<Object: QueriedObject>(_ predicate: Predicate<Object>) {
        let variable: PredicateExpressions.Variable<Object> = predicate.variable
        let scope = LoweringScope(Object.self, variable.key)
        var nodes: [Node] = []
        // Use a stack instead of recursion, because a predicate can have any length.
        var rest: [any StandardPredicateExpression<Bool>] = [predicate.expression]
        while let expression = rest.popLast() {
            if let sides = (expression as? any ConjunctionOfTwo)?.sides {
                rest += [sides.1, sides.0]
            } else {
                nodes.append(Self.node(expression, variable, scope))
            }
        }
        self.init(.all(nodes))
    }

    private static func node<Object: QueriedObject>(
        _ expression: any StandardPredicateExpression<Bool>, _ variable: PredicateExpressions.Variable<Object>,
        _ scope: LoweringScope
    ) -> Node {
        do throws(NotQueryable) {
            return try scope.condition(expression)
        } catch {
            return .custom(ObjectMatcher(error.construct, expression, variable))
        }
    }
}

/// A node that joins two predicates by `&&`.
private protocol ConjunctionOfTwo {
    var sides: (any StandardPredicateExpression<Bool>, any StandardPredicateExpression<Bool>)? { get }
}

extension PredicateExpressions.Conjunction: ConjunctionOfTwo {
    fileprivate var sides: (any StandardPredicateExpression<Bool>, any StandardPredicateExpression<Bool>)? {
        guard let one = lhs as? any StandardPredicateExpression<Bool>,
            let other = rhs as? any StandardPredicateExpression<Bool>
        else { return nil }
        return (one, other)
    }
}

extension ObjectMatcher {
    /// Makes a matcher for a part of a predicate that is evaluated on objects.
    ///
    /// - Parameter construct: The construct that the store cannot evaluate.
    convenience init<Object: QueriedObject>(
        _ construct: String, _ expression: any StandardPredicateExpression<Bool>,
        _ variable: PredicateExpressions.Variable<Object>
    ) {
        self.init(construct, followsRelationship: readsRelatedObjects(expression)) { object in
            guard let object = object as? Object else { return false }
            do {
                return try EvaluationScope(PredicateBindings((variable, object))).holds(expression)
            } catch {
                throw DataSourceError(
                    .predicateFailed,
                    "A part of a predicate with \(construct) could not be evaluated on a \(Object.self). Change the construct that the cause names.",
                    entityName: Object.entityName, cause: "\(error)")
            }
        }
    }
}
