package import Foundation
internal import RowStore

extension PredicateTree {
    /// The same condition as a predicate of Foundation.
    package init<Object: QueriedObject>(_ predicate: Predicate<Object>) {
        let variable: PredicateExpressions.Variable<Object> = predicate.variable
        let scope = LoweringScope(Object.self, variable.key)
        var nodes: [Node] = []
        // A stack instead of recursion, because a predicate can have any length.
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

/// Two conditions that are joined by `&&`.
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
    /// A part of a predicate that Foundation evaluates.
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
