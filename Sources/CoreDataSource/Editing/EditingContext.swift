internal import QueryLanguage
internal import RowStore

/// A context in which objects are inserted, edited and deleted: that of a data source's batch, or that of a draft.
///
/// **Isolation**: that of the context.
public class EditingContext: ManagedObjectContext {
    /// The entities of other data sources to which the batch has made links.
    var linkedEntities: Set<Int> = []
    /// Deleted objects whose delete rules have not been applied yet.
    var deletions: [ManagedObject] = []
    /// How many links the context has changed.
    var linkEdits = 0

    /// The other contexts whose edits are saved with those of this one.
    var partners: [EditingContext] { [] }

    /// The context that deletes an object: the object's own, if it is part of this save.
    func editor(of object: ManagedObject) -> EditingContext { self }

    /// An object was inserted.
    func didInsert(_ object: ManagedObject) {}

    /// An object is about to be deleted, or is already deleted.
    func willDelete(_ object: ManagedObject) {}

    /// An object was deleted.
    ///
    /// - Parameter wasInserted: Whether it had not been saved before.
    func didDelete(_ object: ManagedObject, wasInserted: Bool) throws(DataSourceError) {}

    /// The row of a link that was deleted in this context, which exists again now; nil if there is none.
    func restoreLink(
        _ one: ManagedObject, _ other: ManagedObject, _ pairs: PairColumns
    ) throws(DataSourceError) -> ManagedObject? { nil }

    /// The order of an ordered relationship is about to change, or a place in it is about to be assigned.
    func willReorder(_ owner: ManagedObject, _ index: Int) throws {}

    /// Runs an edit that changes several objects.
    func editingTogether<R, Failure>(_ body: () throws(Failure) -> R) throws(Failure) -> R { try body() }

    /// Inserts a new object with the default values of the model.
    ///
    /// - Throws: `entityNotOwned`, `abstractEntity`, `unknownEntity`, `keysExhausted`.
    public func insert<Object: ManagedObject>(_ type: Object.Type) throws -> Object {
        try typed(insert(entity: entity(of: type)))
    }

    /// Deletes an object. Its values stay readable until the save.
    ///
    /// The save applies the model's delete rules to related objects. If the data source does not own the object, the save
    /// throws `entityNotOwned`.
    public func delete(_ object: ManagedObject) {
        let context = editor(of: object)
        do throws(DataSourceError) { try context.delete(owned: object) } catch { context.refuse(error) }
    }

    /// The object whose attribute has that value, or a new object with it.
    ///
    /// For an attribute with a uniqueness constraint, this costs as much as a look-up by key, and the store is not read while
    /// the object is registered. For any other attribute, it finds the first such object in the order of creation. Without a
    /// fetch index the store may have to read every row of the entity, which ``AnyDataSource/diagnostics`` then reports.
    ///
    /// - Parameters:
    ///   - type: The class of the object.
    ///   - keyPath: An attribute, preferably with a uniqueness constraint.
    ///   - value: The value to look for; a new object gets it.
    /// - Throws: `entityNotOwned`, `unknownAttribute`, and what the store throws.
    public func findOrInsert<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value
    ) throws -> Object {
        try reading { () throws(DataSourceError) in
            let entity = try entity(of: type)
            let column = try column(keyPath, of: type, bindings[entity].layout)
            try checkMayChange(entity)
            let stored = value.storedValue.value
            if let found = try find(entity: entity, column: column, value: stored) { return try typed(found) }
            return try typed(insert(entity: entity, column: column, value: stored))
        }
    }

    /// A new object, if no other object has the value.
    func insert(entity: Int, column: Int, value: RowValue) throws(DataSourceError) -> ManagedObject {
        let object = try insert(entity: entity)
        object.setValue(value, column)
        if let constraint = object.layout.constraint(onColumn: column), isOfOneTable(object, constraint) {
            object.checkedConstraint = Int32(constraint)
        }
        return object
    }

    /// Whether cached links of to-many relationships are outdated after a change of links.
    var knowsEnds: Bool { related.knowsEnds || partners.contains { $0.related.knowsEnds } }

    /// Links to or from objects with those keys have changed.
    func forgetEnds(of keys: [Int64]) {
        related.removeEnds(of: keys)
        for partner in partners { partner.related.removeEnds(of: keys) }
    }

    /// Whether only objects of this entity can have values of a constraint.
    func isOfOneTable(_ object: ManagedObject, _ constraint: Int) -> Bool {
        bindings[object.layout.constraintOwners[constraint]].layout.concreteFamily.count == 1
    }
}
