import CoreDataSource
import Foundation
import QueryLanguage
import RowStore
import TestSupport

/// A random predicate along relationships, as a tree and as what it says of objects in plain Swift.
struct MailPredicate {
    let node: PredicateTree.Node
    let test: (ManagedObject) -> Bool
}

/// Makes random predicates and orders along relationships.
struct MailQuestions {
    var random: SeededRandom
    /// The subqueries that were opened, for the names of their variables.
    private var variables = 0

    init(random: SeededRandom) { self.random = random }

    /// A value of an object, or of what it leads to.
    struct Value {
        let path: [String]
        let kind: ValueKind
        let value: (ManagedObject) -> RowValue
    }

    /// What the objects of one entity have.
    private struct Kind {
        var attributes: [(name: String, kind: ValueKind, value: (ManagedObject) -> RowValue)] = []
        var toOne: [(name: String, kind: String, object: (ManagedObject) -> ManagedObject?)] = []
        var toMany: [(name: String, kind: String, objects: (ManagedObject) -> [ManagedObject])] = []

        mutating func attribute<Object: ManagedObject>(
            _ name: String, _ kind: ValueKind, _ value: @escaping (Object) -> any AttributeStorable
        ) {
            attributes.append((name, kind, { ($0 as? Object).map { value($0).storedValue.value } ?? .null }))
        }

        mutating func toOne<Object: ManagedObject>(
            _ name: String, _ kind: String, _ object: @escaping (Object) -> ManagedObject?
        ) {
            toOne.append((name, kind, { ($0 as? Object).flatMap(object) }))
        }

        mutating func toMany<Object: ManagedObject>(
            _ name: String, _ kind: String, _ objects: @escaping (Object) -> [ManagedObject]
        ) {
            toMany.append((name, kind, { ($0 as? Object).map(objects) ?? [] }))
        }
    }

    private let kinds: [String: Kind] = {
        var (message, thread, person, tag, card) = (Kind(), Kind(), Kind(), Kind(), Kind())
        message.attribute("subject", .text) { (message: MailMessage) in message.subject }
        message.attribute("size", .integer) { (message: MailMessage) in message.size }
        message.attribute("price", .decimal) { (message: MailMessage) in message.price }
        message.attribute("sent", .date) { (message: MailMessage) in message.sent }
        message.attribute("isRead", .boolean) { (message: MailMessage) in message.isRead }
        message.toOne("thread", "Thread") { (message: MailMessage) in message.thread }
        message.toOne("author", "Person") { (message: MailMessage) in message.author }
        message.toOne("replyTo", "Message") { (message: MailMessage) in message.replyTo }
        message.toMany("tags", "Tag") { (message: MailMessage) in message.tags }
        message.toMany("replies", "Message") { (message: MailMessage) in Array(message.replies) }
        thread.attribute("title", .text) { (thread: MailThread) in thread.title }
        thread.attribute("rank", .integer) { (thread: MailThread) in thread.rank }
        thread.toOne("owner", "Person") { (thread: MailThread) in thread.owner }
        thread.toMany("messages", "Message") { (thread: MailThread) in Array(thread.messages) }
        person.attribute("name", .text) { (person: MailPerson) in person.name }
        person.attribute("age", .integer) { (person: MailPerson) in person.age }
        person.toOne("boss", "Person") { (person: MailPerson) in person.boss }
        person.toOne("card", "Card") { (person: MailPerson) in person.card }
        person.toMany("reports", "Person") { (person: MailPerson) in Array(person.reports) }
        person.toMany("written", "Message") { (person: MailPerson) in Array(person.written) }
        person.toMany("owned", "Thread") { (person: MailPerson) in Array(person.owned) }
        tag.attribute("name", .text) { (tag: MailTag) in tag.name }
        tag.attribute("weight", .real) { (tag: MailTag) in tag.weight }
        tag.toMany("messages", "Message") { (tag: MailTag) in Array(tag.messages) }
        card.attribute("code", .integer) { (card: MailCard) in card.code }
        card.toOne("holder", "Person") { (card: MailCard) in card.holder }
        return ["Message": message, "Thread": thread, "Person": person, "Tag": tag, "Card": card]
    }()

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    private mutating func constant(_ kind: ValueKind) -> FetchValue {
        if below(8) == 0 { return .null }
        switch kind {
        case .text: return .text(pick(["", "a", "b", "ab", "é", "9"]))
        case .real: return .double(Double(below(6)) / 2)
        case .decimal: return .decimal(Decimal(below(30)) / 10)
        case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(below(5))))
        case .boolean: return .boolean(below(2) == 0)
        default: return .integer(Int64(below(6)))
        }
    }

    /// An attribute, at the end of some to-one relationships.
    mutating func value(_ kind: String, _ depth: Int) -> Value {
        guard let own = kinds[kind] else { fatalError("no kind \(kind)") }
        guard depth > 0, !own.toOne.isEmpty, below(3) > 0 else {
            let attribute = pick(own.attributes)
            return Value(path: [attribute.name], kind: attribute.kind, value: attribute.value)
        }
        let step = pick(own.toOne)
        let rest = value(step.kind, depth - 1)
        return Value(path: [step.name] + rest.path, kind: rest.kind) { step.object($0).map(rest.value) ?? .null }
    }

    /// An aggregate of the objects that a to-many relationship leads to, at the end of some to-one relationships.
    private mutating func aggregate(_ kind: String, _ depth: Int) -> Value? {
        guard let own = kinds[kind] else { return nil }
        if depth > 0, !own.toOne.isEmpty, below(2) == 0 {
            let step = pick(own.toOne)
            guard let rest = aggregate(step.kind, depth - 1) else { return nil }
            return Value(path: [step.name] + rest.path, kind: rest.kind) { step.object($0).map(rest.value) ?? .null }
        }
        guard !own.toMany.isEmpty else { return nil }
        let many = pick(own.toMany)
        if below(3) == 0 {
            return Value(path: [many.name, "@count"], kind: .integer) { .integer(Int64(many.objects($0).count)) }
        }
        let inner = value(many.kind, 1)
        let functions: [(String, FetchFunction)] = [
            ("@sum", .sum), ("@avg", .average), ("@median", .median), ("@mode", .mode), ("@stddev", .stddev),
            ("@min", .min), ("@max", .max),
        ]
        let isNumber = inner.kind == .integer || inner.kind == .real || inner.kind == .decimal
        let (name, function) = isNumber ? pick(functions) : pick(Array(functions[5...]))
        let isReal = function == .stddev || inner.kind == .integer && (function == .average || function == .median)
        let calculation = inner.kind == .boolean ? ValueKind.integer : inner.kind
        return Value(path: [many.name, name] + inner.path, kind: isReal ? .real : inner.kind) { object in
            function.combine(many.objects(object).map(inner.value), calculation)
        }
    }

    /// - Parameter base: The variable of the object that it is about; nil for the object of the request.
    mutating func predicate(_ kind: String, _ depth: Int, of base: String? = nil) -> MailPredicate {
        func expression(_ path: [String]) -> FetchExpression {
            base.map { .path(.variable($0), path) } ?? .keyPath(path)
        }
        switch below(depth > 0 ? 12 : 4) {
        case 0, 1: return comparison(value(kind, 2), expression)
        case 2:
            let (one, other) = (value(kind, 2), value(kind, 2))
            guard one.kind == other.kind else { return comparison(one, expression) }
            let relation = self.relation(one.kind)
            let order: ValueOrder = one.kind == .decimal ? .decimal : .natural
            return MailPredicate(node: .compare(expression(one.path), relation, expression(other.path), [])) {
                order.holds(one.value($0), relation, other.value($0))
            }
        case 3: return missing(kind, expression)
        case 4, 5:
            return aggregate(kind, 1).map { comparison($0, expression) } ?? comparison(value(kind, 2), expression)
        case 6, 7: return quantified(kind, expression)
        case 8, 9: return subquery(kind, depth, expression)
        case 10:
            let inner = predicate(kind, depth - 1, of: base)
            return MailPredicate(node: .not(inner.node)) { !inner.test($0) }
        default:
            let parts = (0..<2).map { _ in predicate(kind, depth - 1, of: base) }
            let isAnd = below(2) == 0
            return MailPredicate(node: isAnd ? .and(parts.map(\.node)) : .or(parts.map(\.node))) { object in
                isAnd ? parts.allSatisfy { $0.test(object) } : parts.contains { $0.test(object) }
            }
        }
    }

    private mutating func relation(_ kind: ValueKind) -> ComparisonOperator {
        pick(
            kind == .boolean
                ? [.equal, .notEqual] : [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
    }

    private mutating func comparison(
        _ value: Value, _ expression: ([String]) -> FetchExpression
    ) -> MailPredicate {
        let path = expression(value.path)
        if below(4) == 0 {
            let constants = (0..<below(4)).map { _ in self.constant(value.kind) }
            let order: ValueOrder = value.kind == .decimal ? .decimal : .natural
            let list = FetchExpression.list(constants.map { FetchExpression.constant($0) })
            return MailPredicate(node: .isIn(path, list, [])) { object in
                constants.contains { order.holds(value.value(object), .equal, $0.rowForm) }
            }
        }
        if value.kind == .text, below(3) == 0 {
            return MailPredicate(node: .text(path, .contains, .constant(.text("a")), [.caseInsensitive])) {
                if case .text(let text) = value.value($0) { text.lowercased().contains("a") } else { false }
            }
        }
        let relation = self.relation(value.kind)
        let constant = self.constant(value.kind)
        let order: ValueOrder = value.kind == .decimal ? .decimal : .natural
        return MailPredicate(node: .compare(path, relation, .constant(constant), [])) {
            order.holds(value.value($0), relation, constant.rowForm)
        }
    }

    /// Whether a to-one relationship leads nowhere.
    private mutating func missing(_ kind: String, _ expression: ([String]) -> FetchExpression) -> MailPredicate {
        guard let own = kinds[kind], !own.toOne.isEmpty else { return comparison(value(kind, 0), expression) }
        let step = pick(own.toOne)
        let relation: ComparisonOperator = below(2) == 0 ? .equal : .notEqual
        guard let next = kinds[step.kind], !next.toOne.isEmpty, below(2) == 0 else {
            return MailPredicate(node: .compare(expression([step.name]), relation, .constant(.null), [])) {
                (step.object($0) == nil) == (relation == .equal)
            }
        }
        let last = pick(next.toOne)
        return MailPredicate(node: .compare(expression([step.name, last.name]), relation, .constant(.null), [])) {
            (step.object($0).flatMap(last.object) == nil) == (relation == .equal)
        }
    }

    /// ANY, ALL or NONE of the objects that a to-many relationship leads to.
    private mutating func quantified(_ kind: String, _ expression: ([String]) -> FetchExpression) -> MailPredicate {
        guard let own = kinds[kind], !own.toMany.isEmpty else { return comparison(value(kind, 1), expression) }
        let many = pick(own.toMany)
        let inner = value(many.kind, 1)
        let test = comparison(inner) { expression([many.name] + $0) }
        // What is compared is the value of each of the objects.
        let quantifier = pick([PredicateTree.Quantifier.any, .all, .none])
        return MailPredicate(node: .quantified(quantifier, test.node)) { object in
            let objects = many.objects(object)
            switch quantifier {
            case .any: return objects.contains(where: test.test)
            case .all: return objects.allSatisfy(test.test)
            case .none: return !objects.contains(where: test.test)
            }
        }
    }

    private mutating func subquery(
        _ kind: String, _ depth: Int, _ expression: ([String]) -> FetchExpression
    ) -> MailPredicate {
        guard let own = kinds[kind], !own.toMany.isEmpty else { return comparison(value(kind, 1), expression) }
        let many = pick(own.toMany)
        variables += 1
        let variable = "v\(variables)"
        let inner = predicate(many.kind, depth - 1, of: variable)
        // Sometimes compared with the object outside.
        let (one, other) = (value(many.kind, 1), value(kind, 1))
        let isCorrelated = one.kind == other.kind && below(2) == 0
        let order: ValueOrder = one.kind == .decimal ? .decimal : .natural
        let node: PredicateTree.Node =
            isCorrelated
            ? .or([inner.node, .compare(.path(.variable(variable), one.path), .equal, expression(other.path), [])])
            : inner.node
        let relation = self.relation(.integer)
        let number = Int64(below(3))
        let count = FetchExpression.path(.subquery(expression([many.name]), variable: variable, node), ["@count"])
        return MailPredicate(node: .compare(count, relation, .constant(.integer(number)), [])) { object in
            let found = many.objects(object).count {
                inner.test($0) || isCorrelated && order.holds(one.value($0), .equal, other.value(object))
            }
            return relation.holds(found < number ? -1 : found > number ? 1 : 0)
        }
    }
}

extension FetchValue {
    /// As a row has it.
    fileprivate var rowForm: RowValue {
        switch self {
        case .boolean(let value): value.storedValue.value
        case .integer(let value): .integer(value)
        case .double(let value): .real(value)
        case .decimal(let value): value.storedValue.value
        case .text(let value): .text(value)
        case .date(let value): value.storedValue.value
        default: .null
        }
    }
}
