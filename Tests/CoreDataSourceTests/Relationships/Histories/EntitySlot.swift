import CoreDataSource

/// A class for an entity whose name is known only when the test runs.
///
/// A context finds out the entity of a class by its static name, so each name has a class of its own: one of 256, which differ
/// in their type arguments.
struct EntitySlot: Sendable {
    let type: ManagedObject.Type
    let insert: @Sendable (PrivateContext) throws -> ManagedObject

    private static let names = Shared<[String]>([])

    init(_ name: String) {
        var index = 0
        EntitySlot.names.update { names in
            index = names.firstIndex(of: name) ?? names.count
            if index == names.count { names.append(name) }
        }
        self = EntitySlot.slot(EntitySlot.number(index / 16), EntitySlot.number(index % 16))
    }

    private init(type: ManagedObject.Type, insert: @escaping @Sendable (PrivateContext) throws -> ManagedObject) {
        (self.type, self.insert) = (type, insert)
    }

    fileprivate static func name(_ index: Int) -> String { names.value[index] }

    private static func slot<High: Number, Low: Number>(_: High.Type, _: Low.Type) -> EntitySlot {
        EntitySlot(type: NumberedEntity<High, Low>.self) { try $0.insert(NumberedEntity<High, Low>.self) }
    }

    private static func number(_ value: Int) -> any Number.Type {
        value == 0 ? Zero.self : successor(of: number(value - 1))
    }

    private static func successor<Value: Number>(of _: Value.Type) -> any Number.Type { Successor<Value>.self }
}

private protocol Number: Sendable {
    static var value: Int { get }
}

private enum Zero: Number {
    static var value: Int { 0 }
}

private enum Successor<Previous: Number>: Number {
    static var value: Int { Previous.value + 1 }
}

private final class NumberedEntity<High: Number, Low: Number>: ManagedObject {
    override class var entityName: String { EntitySlot.name(High.value * 16 + Low.value) }
}

/// Everything of a model that is known only when the test runs.
final class WholeModelDataSource: DataSource<String> {
    override class var entities: [ManagedObject.Type] { WholeModel.classes }
}

enum WholeModel {
    /// The classes of the model whose container asks for its data source.
    @TaskLocal static var classes: [ManagedObject.Type] = []
}
