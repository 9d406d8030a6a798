internal import Foundation
internal import ManagedModel
internal import RowStore

/// The arguments of a format, taken one after the other.
struct FormatArguments {
    private let arguments: [(any Sendable)?]
    private var taken = 0

    init(_ arguments: [(any Sendable)?]) {
        self.arguments = arguments
    }

    var count: Int { arguments.count }

    /// The next argument: the inner optional is nil if the argument is nil, the outer one if there is no argument left.
    mutating func next() -> (any Sendable)?? {
        guard taken < arguments.count else { return nil }
        taken += 1
        return .some(arguments[taken - 1])
    }

    func checkAllTaken() throws(DataSourceError) {
        if taken == arguments.count { return }
        throw DataSourceError(
            .unreadablePredicate,
            "The predicate format has \(taken) placeholders, but \(arguments.count) arguments were given. Placeholders in quotes do not count."
        )
    }
}

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

    /// The keys of an argument for `%K`: a string with dots, or a key path to an attribute.
    static func keys(_ argument: Any) -> [String]? {
        if let keyPath = argument as? AnyKeyPath {
            guard let type = type(of: keyPath).rootType as? ManagedObject.Type else { return nil }
            return type.attributeKeyPaths[keyPath].map { $0.parts(separatedBy: ".", omittingEmpty: true) }
        }
        guard let text = argument as? String, !text.isEmpty else { return nil }
        return text.parts(separatedBy: ".")
    }
}

extension FetchValue {
    /// The value of an argument that an attribute could have.
    init?(argument: Any) {
        switch argument {
        case let text as String: self = .text(text)
        case let flag as Bool: self = .boolean(flag)
        case let number as any BinaryInteger:
            if let integer = Int64(exactly: number) {
                self = .integer(integer)
            } else {
                guard let large = UInt64(exactly: number) else { return nil }
                self = .of(large)
            }
        case let number as any BinaryFloatingPoint: self = .double(Double(number))
        case let number as Decimal: self = .decimal(number)
        case let date as Date: self = .date(date)
        case let data as Data: self = .data(data)
        case let uuid as UUID: self = .uuid(uuid)
        case let url as URL: self = .url(url.absoluteURL)
        case let id as ManagedObjectID: self = .objectID(entityName: id.entityName, key: id.key)
        case let text as Substring: self = .text(String(text))
        case let character as Character: self = .text(String(character))
        case let value as any AttributeStorable & RawRepresentable: self.init(value)
        case let raw as any RawRepresentable:
            guard let value = FetchValue(argument: raw.rawValue) else { return nil }
            self = value
        default: return nil
        }
    }

    /// A whole number.
    static func of(_ number: UInt64) -> FetchValue {
        Int64(exactly: number).map(FetchValue.integer) ?? .decimal(Decimal(number))
    }

    /// A whole number with a minus sign.
    static func negative(_ number: UInt64) -> FetchValue {
        if number == Int64.min.magnitude { return .integer(.min) }
        return Int64(exactly: number).map { .integer(-$0) } ?? .decimal(-Decimal(number))
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
