internal import RowStore

/// What a context knows about one entity: its class, its objects, and where their unique values are.
final class EntityBinding {
    let layout: EntityLayout
    /// The class of every registered object.
    private(set) var type: ManagedObject.Type
    /// The row of a new object: default values and nulls.
    let template: RowSnapshot
    let rules: ValidationRules
    let derivations: [Derivation]
    /// Whether the context may edit objects of this entity.
    let isOwned: Bool

    var objects = ObjectTable()
    var uniqueIndexes: [UniqueIndex]
    /// Whether every row of the entity is registered, so that the store need not be asked.
    var holdsAllRows = false
    /// Whether the store has been asked if it has any row, since the cache was last emptied.
    var isEmptinessKnown = false
    /// Room for texts and blobs that new rows are given, in words.
    var spareWords = 16

    init(_ layout: EntityLayout, _ type: ManagedObject.Type, _ rules: ValidationRules, isOwned: Bool) {
        self.layout = layout
        self.type = type
        self.rules = rules
        self.isOwned = isOwned
        derivations = layout.columns.indices.compactMap { Derivation($0, layout) }
        template = rules.template(layout)
        uniqueIndexes = Array(repeating: UniqueIndex(), count: layout.constraints.count)
    }

    /// Takes a class for an entity for which the model names none.
    func adopt(_ type: ManagedObject.Type) {
        guard self.type == ManagedObject.self, type != self.type else { return }
        forgetObjects()
        self.type = type
    }

    // MARK: Unique values

    /// The registered object with that value in the one column of a uniqueness constraint.
    func find(_ constraint: Int, _ column: Int, _ value: RowValue) -> ManagedObject? {
        var hash = UniqueHash()
        hash.combine(value)
        return uniqueIndexes[constraint].first(hash.value) { !$0.isDeleted && $0.row.holds(value, column: column) }
    }

    /// A registered object, other than that one, with those values in the columns of a uniqueness constraint.
    func find(_ constraint: Int, _ values: [RowValue], except other: ManagedObject? = nil) -> ManagedObject? {
        var hash = UniqueHash()
        for value in values { hash.combine(value) }
        let columns = layout.constraints[constraint]
        return uniqueIndexes[constraint].first(hash.value) { object in
            guard object !== other, !object.isDeleted else { return false }
            return columns.indices.allSatisfy { object.row.holds(values[$0], column: columns[$0]) }
        }
    }

    /// Notes the object's present values in the columns of a uniqueness constraint.
    func index(_ object: ManagedObject, _ constraint: Int) {
        var hash = UniqueHash()
        for column in layout.constraints[constraint] {
            if object.row.isNull(column) { return }
            hash.combine(object.row, column: column, storage: layout.columns[column].storage)
        }
        uniqueIndexes[constraint].insert(hash.value, object)
    }

    /// Forgets all objects that are as they were saved.
    func forgetObjects() {
        objects = ObjectTable()
        for constraint in uniqueIndexes.indices { uniqueIndexes[constraint].removeAll() }
        holdsAllRows = false
        isEmptinessKnown = false
    }
}
