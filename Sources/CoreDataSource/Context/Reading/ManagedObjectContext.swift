internal import QueryLanguage
internal import RowStore

/// A set of managed objects, with all functions to read objects.
///
/// ```swift
/// func adultNames(in context: ManagedObjectContext) throws -> [String] {
///     try context.fetch(
///         ContactEntity.self, where: \.age >= 18, order: [.ascending(\.name)]
///     ).map(\.name)
/// }
/// ```
///
/// There are four kinds of contexts:
/// - the ``MainContext``, which the user interface reads,
/// - the ``PrivateContext`` of a data source, in which objects are edited,
/// - the ``DraftContext`` of a ``Draft``, whose edits can be discarded,
/// - the ``ReadContext`` of ``PersistentContainer/read(_:)``, which reads a consistent snapshot of all rows.
///
/// A fetch includes saves that are not in the store yet, and unsaved edits of the same context.
///
/// **Isolation**: a context and its objects are not `Sendable`, so they cannot leave the hook, `perform`, `read` or the main
/// actor to which they belong. The compiler checks this.
public class ManagedObjectContext {
    let stack: PersistentStack
    /// The source of the rows. Changes only while the main context is pinned or unpinned.
    // Safe: no code reads the source while it is being changed.
    @exclusivity(unchecked) final var source: RowSource
    /// The binding of each entity, in the order of the model.
    let bindings: [EntityBinding]
    /// Every object with changes.
    var changed = ChangedObjects()
    /// The changes of the next save to rows that did not become objects.
    var bulkChanges: [EntityChanges] = []
    /// The error of the first edit that was refused since the last save. The next save throws the error.
    private(set) var refusal: DataSourceError?
    /// Whether edits are allowed: a hook or `perform` is running, or the context belongs to a draft.
    var isInBatch = false
    /// The position of the feed up to which the context has applied all events.
    var position: FeedPosition
    /// The links of to-many relationships that were read.
    var related = RelatedCache()
    /// The look-ups of the batch among objects of other data sources; nil outside of a batch.
    // Safe: no code uses the table while it is being changed. The same is true for `keyPaths`.
    @exclusivity(unchecked) final var lookupCache: LookupCache?
    /// Whether reads show the edits of all contexts of the batch. If false, they show only the edits of this context.
    var readsCompanions = false
    /// Whether the batch has inserted objects with keys that were in use before the batch: keys of deleted objects, or
    /// of new objects of a draft. Other rows may have links to these objects.
    final var hasGivenKeys = false
    /// Whether relationships are being read.
    var isFollowingRelationship = false
    /// For each relationship, the number of reads for one object at a time.
    var readOneByOne: [EntityRelationship: Int] = [:]
    /// Whether a long query ends when its task is canceled.
    var isCancellable = false
    /// Whether fetched rows may have deferred values: large values that are read only when they are used. Rows that are edited
    /// or compared must not have deferred values.
    var defersValues = false
    /// For each column, how often an object was read again for a deferred value.
    var deferredReads: [DeferredColumn: Int] = [:]
    /// The name of the data source's class; nil for a read-only context.
    let owner: String?

    private var entitiesByType: [ObjectIdentifier: Int] = [:]
    private var lastType: (type: ObjectIdentifier, entity: Int)?
    @exclusivity(unchecked) private var keyPaths = KeyPathTable()
    /// Whether any entity has a ``ValueIndex``.
    var hasValueIndexes = false
    /// The number of rows on which predicates were evaluated in this context instead of the store. For tests.
    package var rowsTested = 0

    /// - Parameter rights: Returns the rights to the rows of an entity.
    init(
        _ stack: PersistentStack, _ source: RowSource, owner: String? = nil,
        rights: (_ entity: Int) -> EntityRights = { _ in .read }
    ) {
        self.stack = stack
        self.source = source
        self.owner = owner
        position = stack.root.feedPosition
        bindings = stack.layout.entities.map { layout in
            EntityBinding(
                layout, type: stack.type(ofEntity: layout.index), rules: ValidationRules(layout),
                rights: rights(layout.index))
        }
        for binding in bindings { binding.home = ObjectHome(binding.layout, in: self, editing) }
    }

    /// How objects of this context can be edited.
    var editing: ObjectEditing { .readOnly }

    /// The isolation of a look-up of one row.
    var lookupIsolation: ReadIsolation { .statement }

    /// Called before the app reads.
    func willRead(registersObjects: Bool) { isCancellable = true }

    /// Called before the app reads, to complete the edits of the context.
    func completeEdits() throws {}

    /// Called before the objects of a to-many relationship are read, and before a relationship is edited.
    func willUse(_ relationship: RelationshipLayout, of object: ManagedObject) {}

    /// Called after the app has read.
    func didRead() { isCancellable = false }

    /// Called after relationships were read.
    func didFollowRelationship() {}

    package final var registeredObjectCount: Int { bindings.reduce(0) { $0 + $1.objects.count } }

    /// The number of slots that registrations passed before they found a free slot. For tests.
    package final var registrationProbeCount: Int { bindings.reduce(0) { $0 + $1.objects.probeCount } }

    /// The address of the storage of the cached links. Only reads of relationships may change the address. For tests.
    package final var linkCacheStorage: Int { related.storage }

    // MARK: Entities and attributes

    /// Returns the index of a class's entity.
    func entity(of type: ManagedObject.Type) throws(DataSourceError) -> Int {
        let identity = ObjectIdentifier(type)
        if let lastType, lastType.type == identity { return lastType.entity }
        if let entity = entitiesByType[identity] {
            lastType = (identity, entity)
            return entity
        }
        return try registerEntity(type)
    }

    private func registerEntity(_ type: ManagedObject.Type) throws(DataSourceError) -> Int {
        let layout = try stack.layout.entity(of: type)
        entitiesByType[ObjectIdentifier(type)] = layout.index
        // A model that was read at run time names no classes, so use the first requested class.
        bindings[layout.index].adopt(type)
        return layout.index
    }

    /// Returns the column of a stored attribute; nil for other key paths.
    func storedColumn(_ keyPath: AnyKeyPath, of type: ManagedObject.Type, _ layout: EntityLayout) -> Int? {
        keyPaths.column(keyPath, of: type, layout)
    }

    /// The column of a stored attribute, or of a part of a composite.
    ///
    /// - Throws: `unknownAttribute` for other key paths.
    func column(
        _ keyPath: AnyKeyPath, of type: ManagedObject.Type, _ layout: EntityLayout
    ) throws(DataSourceError) -> Int {
        if let column = storedColumn(keyPath, of: type, layout) { return column }
        if case .success(.keyPath(let names)) = FetchExpression.attribute(keyPath, of: type), names.count > 1,
            let column = layout.column(named: names.joined(separator: ".")), layout.columns[column].attribute != nil
        {
            return column
        }
        throw DataSourceError(
            .unknownAttribute,
            "A property of \(type) of the type \(Swift.type(of: keyPath).valueType) is not a stored attribute of \(layout.name). Fetch by an attribute of the model.",
            entityName: layout.name)
    }

    /// - Throws: `entityNotOwned` if this context cannot insert and change objects of the entity.
    func checkOwned(_ entity: Int) throws(DataSourceError) {
        if !mayEdit(entity) { throw notOwned(bindings[entity].layout) }
    }

    /// Like ``checkOwned(_:)``. For an abstract entity, checks all concrete sub-entities.
    func checkMayChange(_ entity: Int) throws(DataSourceError) {
        let layout = bindings[entity].layout
        guard layout.isAbstract else { return try checkOwned(entity) }
        for concrete in layout.concreteFamily { try checkOwned(concrete) }
    }

    /// Whether this context may insert and change objects of the entity.
    func mayEdit(_ entity: Int) -> Bool { bindings[entity].isOwned }

    /// Returns the context in which objects of an entity are edited. In a batch over several data sources, the result may be
    /// another context.
    func editor(ofEntity entity: Int) -> ManagedObjectContext { self }

    /// Returns the context whose edits are shown when this context reads objects of an entity.
    final func reader(ofEntity entity: Int) -> ManagedObjectContext {
        readsCompanions ? editor(ofEntity: entity) : self
    }

    /// Whether links of this context may refer to deleted objects of an entity. Only the save applies the delete rules that
    /// remove such links.
    func mayHaveGoneObjects(_ entity: Int) -> Bool { editor(ofEntity: entity).bindings[entity].hasDeletions }

    /// Whether the container reports read failures of accessors. If false, the next save, or ``PersistentContainer/read(_:)``,
    /// throws the error.
    var reportsReadFailures: Bool { false }

    /// Handles an error from reading a relationship or a deferred value, because the accessor cannot throw the error.
    func recordReadFailure(_ error: any Error) {
        let error =
            error as? DataSourceError
            ?? DataSourceError(
                .cancelled,
                "The task was canceled while a relationship or a large value was read. Read the property again.")
        if reportsReadFailures {
            stack.root.failures.report(StoreFailure(.store, error, dataSourceName: nil))
        } else {
            refuse(error)
        }
    }

    /// Called after a batch, and when the edits of a batch are discarded.
    func forgetDeletions() {}

    func notOwned(_ layout: EntityLayout) -> DataSourceError {
        DataSourceError(
            .entityNotOwned,
            "\(owner ?? "A context for reading") does not own \(layout.name) and cannot insert, edit or delete its objects. Use the data source that lists \(layout.name) in its entities.",
            entityName: layout.name)
    }

    // MARK: Edits

    /// Traps outside of a batch, because the edit would be saved with the wrong batch.
    func checkInBatch() {
        precondition(
            isInBatch,
            "An object of \(owner ?? "a context for reading") was inserted, edited or deleted outside of a batch. Edit objects in a hook or in perform { }, and keep no object after its batch ends."
        )
    }

    func willChange(_ object: ManagedObject) {}

    func didChange(_ object: ManagedObject) {}

    func willEdit(_ object: ManagedObject) {
        checkInBatch()
        let binding = bindings[object.layout.index]
        if !mayEdit(object.layout.index) { refuse(notOwned(object.layout)) }
        changed.insert(object)
        binding.recordTouch(object)
    }

    /// Makes the next save throw the error. If an earlier edit was refused, its error is thrown instead.
    func refuse(_ error: DataSourceError) {
        if refusal == nil { refusal = error }
    }

    /// Throws the recorded error of an edit, or of a read by an accessor that cannot throw.
    func checkRefusal() throws {
        if let refusal { throw refusal.code == .cancelled ? CancellationError() : refusal }
    }

    /// Removes and returns the error of the first refused edit.
    func takeRefusal() -> DataSourceError? {
        defer { forgetRefusal() }
        return refusal
    }

    func forgetRefusal() { refusal = nil }

    /// Returns the index of a column. The first call builds the index.
    func valueIndex(_ binding: EntityBinding, _ column: Int) -> ValueIndex {
        hasValueIndexes = true
        return binding.valueIndex(column)
    }

    /// Returns the index of a column; nil if the index does not exist and is not worth its cost.
    func valueIndex(_ binding: EntityBinding, _ column: Int, insteadOf count: Int) -> ValueIndex? {
        guard binding.layout.columns[column].isStored,
            let index = binding.valueIndex(column, insteadOf: count)
        else { return nil }
        hasValueIndexes = true
        return index
    }

    // MARK: Rows

    func refresh(_ object: ManagedObject, _ row: RowSnapshot, asOf number: SaveNumber) {
        let binding = bindings[object.layout.index]
        binding.layout.check(row)
        let isIndexed = hasValueIndexes && number > object.asOf && !object.row.hasSameWords(as: row)
        binding.refresh(object, row, asOf: number)
        if isIndexed { binding.recordValues(of: object) }
    }
}

extension ManagedObjectContext: ObjectContext {}

@available(*, unavailable, message: "A context stays in its isolation. Pass its container or data source instead.")
extension ManagedObjectContext: Sendable {}

/// Makes objects from rows, one object for each row.
extension ManagedObjectContext {
    /// Returns the registered object of a row. If there is none, registers a new object.
    func object(_ stored: StoredRow, _ binding: EntityBinding, asOf number: SaveNumber) -> ManagedObject {
        if let object = binding.objects[stored.key] {
            if object.state == .saved { refresh(object, stored.row, asOf: number) }
            return object
        }
        return register(stored, binding, .saved, asOf: number)
    }

    func objects(_ rows: [StoredRow], _ entity: Int, asOf number: SaveNumber) -> [ManagedObject] {
        let binding = bindings[entity]
        binding.objects.reserve(rows.count)
        return rows.map { object($0, binding, asOf: number) }
    }

    func register(
        _ stored: StoredRow, _ binding: EntityBinding, _ state: ObjectState, asOf number: SaveNumber
    ) -> ManagedObject {
        binding.layout.check(stored.row)
        let object = binding.type.make(binding.home, key: stored.key, row: stored.row, state, asOf: number)
        enter(object, binding)
        return object
    }

    @inline(__always)
    private func enter(_ object: ManagedObject, _ binding: EntityBinding) {
        binding.register(object)
        if hasValueIndexes { binding.recordValues(of: object) }
    }
}

/// Discarding edits and registered objects.
extension ManagedObjectContext {
    /// Discards all edits since the last save.
    ///
    /// - Parameter isEnd: Whether the batch ends. If it continues, objects stay registered.
    func rollback(isEnd: Bool = true) {
        for object in changed {
            bindings[object.layout.index].endEdits(of: object)
            guard object.state == .saved else { continue }
            if hasValueIndexes { bindings[object.layout.index].recordValues(of: object) }
            // The unique indexes may lack the saved values of the object, so index the object again.
            let binding = bindings[object.layout.index]
            if binding.isOwned { binding.indexLater(object) }
        }
        for binding in bindings where binding.hasEdits { binding.endBatch() }
        changed.removeAll()
        bulkChanges.removeAll()
        related.removeAll()
        if lookupCache != nil { lookupCache = LookupCache() }
        forgetDeletions()
        forgetRefusal()
        if isEnd { trim() }
    }

    /// The bytes of the registered objects of owned entities.
    var registeredBytes: Int { bindings.reduce(0) { $0 + $1.registeredBytes } }

    /// Ends the batch, and forgets objects that another data source may change. Then forgets registered objects until the rest
    /// is within the limit.
    func trim() {
        related.removeAll()
        for binding in bindings {
            binding.endBatch()
            guard binding.objects.count > 0 else { continue }
            if !binding.isOwned || binding.isIndexStale { binding.forgetObjects() }
        }
        var bytes = registeredBytes
        // Start with the largest entity, so that the objects of small entities stay registered.
        while bytes > stack.registeredObjectByteLimit,
            let largest = bindings.max(by: { $0.registeredBytes < $1.registeredBytes })
        {
            bytes -= largest.registeredBytes
            largest.forgetObjects()
        }
        hasValueIndexes = bindings.contains { $0.followsValues }
    }

    /// Forgets all objects, after stored rows have changed.
    func forgetAll() {
        rollback()
        for entity in bindings.indices { bindings[entity].forgetObjects() }
    }
}

extension ModelLayout {
    /// The entity that a class stands for.
    ///
    /// - Throws: `unknownEntity` if the model has no such entity.
    func entity(of type: ManagedObject.Type) throws(DataSourceError) -> EntityLayout {
        if let layout = entity(named: type.entityName) { return layout }
        throw DataSourceError(
            .unknownEntity,
            "\(type) stands for the entity \"\(type.entityName)\", but the model \(model.name) has no such entity. \(DeclaredEntity.remedy(forMissing: type))",
            entityName: type.entityName)
    }
}
