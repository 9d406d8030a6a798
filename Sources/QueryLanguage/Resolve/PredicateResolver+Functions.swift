internal import RowStore

/// Functions of one value and of lists.
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
                throw invalid("\(function.rawValue) needs a string, but \(argument.description) is not one.")
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

    /// The kind of the result for numbers of that kind: a mean of integers is a real.
    fileprivate func mean(of kind: ValueKind) -> ValueKind {
        (self == .average || self == .median) && kind == .integer ? .real : kind
    }
}
