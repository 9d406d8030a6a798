internal import RowStore

/// The context of one data source: an actor in which its objects are made, edited and deleted.
///
/// Hooks and `perform` get it as an isolated parameter, so they call it without `await`. Everything done in one hook call
/// batch or one `perform` is one save: it is seen and stored whole or not at all. Edits are checked against the model
/// when the save is made, and a save that fails leaves the context as it was before.
///
/// **Isolation**: its own serial queue. Fetches of a private context read the store and what is saved but not yet
/// committed; they never touch the main actor.
public actor PrivateContext {
    let objects: ObjectContext
    nonisolated let stack: PersistentStack
    nonisolated let executor: QueueExecutor
    /// The name of the data source's class.
    nonisolated let owner: String
    /// The data source, as its saves know it.
    nonisolated let source: SaveSource
    /// The entities whose objects may be edited here.
    nonisolated let ownedEntities: Set<Int>

    init(_ stack: PersistentStack, owner: String, ownedEntities: Set<Int>) {
        self.stack = stack
        self.owner = owner
        self.ownedEntities = ownedEntities
        executor = QueueExecutor(stack.root.scheduling.makeQueue("CoreDataSource.private.\(owner)", true))
        source = SaveSource(owner)
        stack.join(source, ownedEntities)
        objects = ObjectContext(stack, owner: owner, ownedEntities: ownedEntities)
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    // MARK: Editing

    /// Makes a new object with the default values of the model.
    ///
    /// - Throws: `entityNotOwned`, `abstractEntity`, `unknownEntity`.
    public func insert<Object: ManagedObject>(_ type: Object.Type) throws -> Object {
        try objects.typed(objects.insert(entity: objects.entity(of: type)))
    }

    /// Deletes an object. Its values stay readable until the end of the batch.
    ///
    /// A refusal, `entityNotOwned`, is thrown by the save.
    public func delete(_ object: ManagedObject) {
        do throws(DataSourceError) { try objects.delete(object) } catch { objects.refuse(error) }
    }

    /// The object whose attribute has that value, or a new one that has it.
    ///
    /// For an attribute with a uniqueness constraint the cost is that of a look-up by key, and nothing is read from the
    /// store while the object is registered. For any other it is the first such object in the order of creation; without a
    /// fetch index the store may have to read every row of the entity, which ``DataSource/diagnostics`` says.
    ///
    /// - Throws: `entityNotOwned`, `unknownAttribute`, and what the store throws.
    public func findOrInsert<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value
    ) throws -> Object {
        let entity = try objects.entity(of: type)
        let column = try objects.column(keyPath, of: type, objects.bindings[entity].layout)
        try objects.checkOwned(entity)
        let stored = value.storedValue.value
        let found = try read { objects throws(DataSourceError) in
            try objects.find(entity: entity, column: column, value: stored)
        }
        if let found {
            return try objects.typed(found)
        }
        let object = try objects.insert(entity: entity)
        object.setValue(stored, column)
        if let constraint = object.layout.constraint(onColumn: column), objects.isOfOneTable(object, constraint) {
            object.checkedConstraint = Int32(constraint)
        }
        return try objects.typed(object)
    }

    /// Takes back every edit of this batch.
    public func rollback() {
        objects.rollback(isEnd: false)
    }

    // MARK: For tests

    /// How many objects are registered.
    package var registeredObjectCount: Int { objects.bindings.reduce(0) { $0 + $1.objects.count } }

    /// The bytes that they take.
    package var registeredByteCount: Int { objects.registeredBytes }

    /// The same, and what they take if they are all looked at.
    package var registeredByteCounts: (counted: Int, present: Int) {
        let owned = objects.bindings.filter(\.isOwned).flatMap { $0.objects.objects }
        return (registeredByteCount, owned.reduce(0) { $0 + $1.row.byteCount + EntityBinding.objectBytes })
    }

    /// Forgets all objects, as after saves that were too large to be cached.
    package func forgetObjects() { objects.forgetAll() }

    /// How many rows were tested by this context and not by the store.
    package var rowsTested: Int { objects.rowsTested }
}
