extension FetchExpression {
    /// The value that an argument stands for: a constant, or a list of them.
    init?(argument: Any?) {
        guard let argument = argument.flatMap(unwrapped) else {
            self = .constant(.null)
            return
        }
        if let value = FetchValue(argument: argument) {
            self = .constant(value)
            return
        }
        guard let list = argument as? any Collection, !(argument is [AnyHashable: Any]) else { return nil }
        // Its count is not used, because the count of a range can overflow.
        var elements: [FetchExpression] = []
        for element in list {
            guard elements.count < FetchExpression.mostElements, let value = FetchExpression(argument: element),
                case .constant = value
            else { return nil }
            elements.append(value)
        }
        self = .list(elements)
    }

    /// The most elements that a list argument may have.
    static let mostElements = 1_000_000

    /// The type of an argument, for messages.
    static func typeName(_ argument: Any?) -> String {
        argument.flatMap(unwrapped).map { "\(type(of: $0))" } ?? "nil"
    }
}

/// The value inside an optional of any depth.
private func unwrapped(_ value: Any) -> Any? {
    guard let optional = value as? any AnyOptional else { return value }
    return optional.content.flatMap(unwrapped)
}

private protocol AnyOptional {
    var content: Any? { get }
}

extension Optional: AnyOptional {
    fileprivate var content: Any? { self }
}
