internal import Foundation
internal import ManagedModel
package import RowStore

/// An expression over the columns of an entity, and the kind of its values.
package struct TypedExpression {
    package var expression: RowExpression
    /// Nil for null, which fits any kind.
    package let kind: ValueKind?
    /// The name of the attribute; nil for other expressions.
    package var attribute: String?
    /// Whether the expression is a constant in its stored form. Such a constant fits every kind that is stored in this
    /// form.
    package var isRaw = false
    /// The nearest `Double` of a literal with more digits, for a comparison with a `Double`.
    var nearest: Double?

    /// The name of the expression in a message.
    package var description: String {
        let kind = kind?.name ?? "nil"
        return attribute.map { "\"\($0)\" (\(kind))" } ?? kind
    }

    /// The form of the expression for a comparison with another expression.
    func compared(to other: TypedExpression) -> TypedExpression {
        guard let nearest, other.kind == .real else { return self }
        return TypedExpression(expression: .constant(.real(nearest)), kind: .real)
    }
}

extension PredicateResolver {
    /// Resolves an expression. Constant expressions are calculated, so that an index can be used for the other side of a
    /// comparison.
    package func expression(_ expression: FetchExpression) throws(DataSourceError) -> TypedExpression {
        var typed = try typed(expression)
        typed.expression = try typed.expression.folded(layout)
        return typed
    }

    private func typed(_ expression: FetchExpression) throws(DataSourceError) -> TypedExpression {
        switch expression {
        case .keyPath(let path): return try keyPath(path)
        case .object: return try object()
        case .path(let base, let path): return try self.path(base, path)
        case .subquery:
            throw invalid("a SUBQUERY stands for objects. Write SUBQUERY(...).@count, or another aggregate.")
        case .constant(let value):
            var isRaw = false
            if case .stored = value { isRaw = true }
            var nearest: Double?
            if case .digits(let text) = value { nearest = Double(text) }
            return TypedExpression(
                expression: .constant(value.rowValue), kind: value.kind, isRaw: isRaw, nearest: nearest)
        case .list: throw invalid("a list was used where one value is needed. Use lists with IN and in functions.")
        case .variable(let name):
            if let object = try object(of: name) { return object }
            throw invalid("the variable $\(name) has no value. Call substituting(_:) before you use the predicate.")
        case .arithmetic(let lhs, let operation, let rhs):
            return try arithmetic(self.expression(lhs), operation, self.expression(rhs))
        case .negated(let inner):
            let inner = try self.expression(inner)
            guard let kind = inner.kind else { return inner }
            let result = try number(kind, inner)
            return TypedExpression(expression: .negated(inner.expression, result), kind: result)
        case .function(let function, let arguments): return try call(function, arguments)
        case .conditional(let condition, let first, let second):
            let (whenTrue, whenFalse, kind) = try alike(self.expression(first), self.expression(second))
            return TypedExpression(expression: .conditional(try resolve(condition), whenTrue, whenFalse), kind: kind)
        case .coalesce(let lhs, let rhs):
            let (lhs, rhs, kind) = try alike(self.expression(lhs), self.expression(rhs))
            return TypedExpression(expression: .coalesce(lhs, rhs), kind: kind)
        case .cast(let inner, let type): return try cast(self.expression(inner), type)
        }
    }

    // MARK: Numbers

    /// The kind in which a number is calculated.
    ///
    /// - Throws: `invalidPredicate` if the kind is not a number.
    func number(_ kind: ValueKind, _ side: TypedExpression) throws(DataSourceError) -> ValueKind {
        guard kind.isNumber else {
            throw invalid("\(side.description) is not a number and cannot be used in a calculation.")
        }
        return kind == .boolean ? .integer : kind
    }

    func common(_ lhs: ValueKind, _ rhs: ValueKind) -> ValueKind {
        if lhs == .real || rhs == .real { return .real }
        return lhs == .decimal || rhs == .decimal ? .decimal : .integer
    }

    private func arithmetic(
        _ lhs: TypedExpression, _ operation: ArithmeticOperator, _ rhs: TypedExpression
    ) throws(DataSourceError) -> TypedExpression {
        guard let left = lhs.kind, let right = rhs.kind else {
            return TypedExpression(expression: .constant(.null), kind: nil)
        }
        func real(_ kind: ValueKind) -> TypedExpression {
            TypedExpression(
                expression: .arithmetic(lhs.expression, operation, rhs.expression, .real), kind: kind)
        }
        switch (left, operation, right) {
        case (.date, .subtract, .date): return real(.real)
        case (.date, .add, _) where right.isNumber, (.date, .subtract, _) where right.isNumber: return real(.date)
        case (_, .add, .date) where left.isNumber: return real(.date)
        default: break
        }
        let kind = common(try number(left, lhs), try number(right, rhs))
        if operation == .power { return real(.real) }
        if operation.isBitwise, kind != .integer {
            throw notIntegral(left == .integer || left == .boolean ? rhs : lhs)
        }
        return TypedExpression(
            expression: .arithmetic(lhs.expression, operation, rhs.expression, kind), kind: kind)
    }

    func notIntegral(_ side: TypedExpression) -> DataSourceError {
        invalid(
            "\(side.description) is not an integer, so its bits cannot be combined. CAST(value, \"Integer 64\") makes an integer."
        )
    }

    // MARK: Kinds

    /// Converts the two possible results of a ternary or a `??` to one kind, so that the kind of the result does not depend on
    /// which one is used.
    private func alike(
        _ lhs: TypedExpression, _ rhs: TypedExpression
    ) throws(DataSourceError) -> (RowExpression, RowExpression, ValueKind?) {
        guard let left = lhs.kind, let right = rhs.kind, left != right else {
            return (lhs.expression, rhs.expression, lhs.kind ?? rhs.kind)
        }
        guard left.isNumber && right.isNumber else {
            throw invalid(
                "\(lhs.description) and \(rhs.description) are values of different kinds in one expression.")
        }
        let kind = common(left, right)
        return (
            .cast(lhs.expression, from: left, to: kind), .cast(rhs.expression, from: right, to: kind), kind
        )
    }

    private func cast(_ inner: TypedExpression, _ type: AttributeType) throws(DataSourceError) -> TypedExpression {
        guard let target = ValueKind(type) else { throw invalid("values cannot be cast to \(type.rawValue).") }
        guard let kind = inner.kind else { return TypedExpression(expression: .constant(.null), kind: target) }
        guard kind.canBeCast(to: target) else {
            throw invalid("\(inner.description) cannot be cast to \(target.name).")
        }
        return TypedExpression(expression: .cast(inner.expression, from: kind, to: target), kind: target)
    }
}

/// Resolves functions of one value, and functions of lists.
extension PredicateResolver {
    func call(
        _ function: FetchFunction, _ arguments: [FetchExpression]
    ) throws(DataSourceError) -> TypedExpression {
        if function == .now { return TypedExpression(expression: .constant(.real(now)), kind: .date) }
        if function.isOfLists { return try callOnList(function, arguments) }
        guard arguments.count == 1 else {
            throw invalid("\(function.rawValue) takes one argument, but \(arguments.count) were given.")
        }
        let argument = try expression(arguments[0])
        guard let kind = argument.kind else { return argument }
        let result: ValueKind
        switch function {
        case .uppercase, .lowercase, .canonical:
            guard kind.isText else {
                throw invalid("\(function.rawValue) needs a string, but \(argument.description) is not a string.")
            }
            result = .text
        case .length:
            guard kind.isText || kind == .data else {
                throw invalid("length needs a string or data, but \(argument.description) is neither.")
            }
            result = .integer
        case .onesComplement:
            result = try number(kind, argument)
            if result != .integer { throw notIntegral(argument) }
        default: result = function.isReal ? .real : try number(kind, argument)
        }
        if function.isReal { _ = try number(kind, argument) }
        return TypedExpression(expression: .function(function, [argument.expression], result), kind: result)
    }

    private func callOnList(
        _ function: FetchFunction, _ arguments: [FetchExpression]
    ) throws(DataSourceError) -> TypedExpression {
        var items: [FetchExpression] = arguments
        if arguments.count == 1, case .list(let list) = arguments[0] { items = list }
        var typed: [TypedExpression] = []
        for item in items { typed.append(try expression(item)) }
        if function == .count {
            return TypedExpression(
                expression: .function(.count, typed.map(\.expression), .integer), kind: .integer)
        }
        var kind: ValueKind = .integer
        for item in typed {
            if let own = item.kind { kind = common(kind, try number(own, item)) }
        }
        let values = typed.map { item -> RowExpression in
            guard let own = item.kind, own != kind else { return item.expression }
            return .cast(item.expression, from: own, to: kind)
        }
        return TypedExpression(
            expression: .function(function, values, kind), kind: function == .stddev ? .real : function.mean(of: kind))
    }
}

extension FetchFunction {
    fileprivate var isOfLists: Bool {
        switch self {
        case .sum, .min, .max, .average, .count, .median, .mode, .stddev: true
        default: false
        }
    }

    /// The kind of this function's result for numbers of the given kind. The average and the median of integers are reals.
    fileprivate func mean(of kind: ValueKind) -> ValueKind {
        (self == .average || self == .median) && kind == .integer ? .real : kind
    }
}
