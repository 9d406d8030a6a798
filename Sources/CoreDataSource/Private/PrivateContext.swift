internal import RowStore

/// The context of one data source, in which its objects are made, edited and deleted.
///
/// Hooks and `perform` get it. Everything done in one call of `add` or one `perform` is one save: it is seen and stored whole
/// or not at all. Edits are checked against the model when the save is made, and a save that fails leaves the context as it
/// was before. Objects of other data sources' entities can be read here, but not edited.
///
/// **Isolation**: the serial queue of its data source; it is valid during the call that gets it.
public final class PrivateContext: ManagedObjectContext {
    /// The other contexts whose edits are saved with those of this one.
    var companions: [PrivateContext] = []
    /// The place of its tier among all of them.
    private(set) lazy var place = bindings.firstIndex(where: \.isOwned) ?? .max
    /// Those of them whose objects the work may use.
    var named: [PrivateContext] = []
    /// The entities of other data sources to whose objects the batch has made links.
    var linkedEntities: Set<Int> = []
    /// How many links the context has changed.
    var linkEdits = 0
    /// The objects deleted in this batch whose delete rules have not been applied yet.
    var deletions: [ManagedObject] = []
    /// Whether delete rules are being applied, which may change rows that nobody owns.
    var isApplyingRules = false
    private var lastSyncMark: Int32 = 0
    /// Whether a uniqueness constraint holds for objects of this context together with those of another one.
    private(set) lazy var sharesConstraints = hasSharedConstraints()

    override func editor(ofEntity entity: Int) -> ManagedObjectContext {
        let others = isApplyingRules ? companions : named
        if bindings[entity].isOwned || others.isEmpty { return self }
        if let owner = others.first(where: { $0.bindings[entity].isOwned }) { return owner }
        // Links between objects of two contexts are those of the one that has the first end.
        let ends = bindings[entity].layout.links.flatMap { stack.layout.entity(named: $0.entity)?.concreteFamily } ?? []
        if let end = ends.first { return editor(ofEntity: end) }
        // What nobody owns is changed in one context of the batch.
        return others.reduce(self) { $1.place < $0.place ? $1 : $0 }
    }

    override func mayEdit(_ entity: Int) -> Bool {
        if bindings[entity].isOwned { return true }
        if isApplyingRules, !stack.isOwned(entity) {
            return bindings[entity].layout.links == nil || mayLink(entity)
        }
        return bindings[entity].layout.links != nil && mayLink(entity)
    }

    override func forgetDeletions() { deletions.removeAll() }

    /// Whether the owners of both ends of links take part in the batch.
    private func mayLink(_ layout: Int) -> Bool {
        let others = isApplyingRules ? companions : named
        return stack.graph.ends(ofLinks: layout).allSatisfy { end in
            bindings[end].isOwned || others.contains { $0.bindings[end].isOwned }
                || isApplyingRules && !stack.isOwned(end)
        }
    }

    override func notOwned(_ layout: EntityLayout) -> DataSourceError {
        guard let links = layout.links else { return super.notOwned(layout) }
        let strangers = stack.graph.ends(ofLinks: layout.index).filter { !bindings[$0].isOwned }
            .map { bindings[$0].layout.name }
        return DataSourceError(
            .entityNotOwned,
            "\(owner ?? "") does not own \(strangers.joined(separator: " and ")), so it cannot change links of \(links.entity).\(links.name) alone. Use container.perform(in:) with the data sources of both.",
            entityName: links.entity, attributeName: links.name)
    }

    /// Makes a new object with the default values of the model.
    ///
    /// - Throws: `entityNotOwned`, `abstractEntity`, `unknownEntity`, `keysExhausted`.
    public func insert<Object: ManagedObject>(_ type: Object.Type) throws -> Object {
        try typed(insert(entity: entity(of: type)))
    }

    /// Deletes an object. Its values stay readable until the end of the batch.
    ///
    /// A refusal, `entityNotOwned`, is thrown by the save.
    public func delete(_ object: ManagedObject) {
        if let other = named.first(where: { $0 === object.context }) { return other.delete(object) }
        do throws(DataSourceError) { try delete(owned: object) } catch { refuse(error) }
    }

    /// Deletes every object that matches.
    ///
    /// - Returns: How many objects they were.
    /// - Throws: `entityNotOwned`, and as ``ManagedObjectContext/fetch(_:)``.
    @discardableResult
    public func delete<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>?
    ) throws -> Int {
        let objects = try changeable(type, predicate)
        for (index, object) in objects.enumerated() {
            try checkCancellation(index)
            delete(object)
        }
        return objects.count
    }

    /// Gives every object that matches the same values.
    ///
    /// ```swift
    /// try context.update(Message.self, where: !\.isRead, set: [.set(\.isRead, true)])
    /// ```
    ///
    /// - Returns: How many objects match.
    /// - Throws: `entityNotOwned`, and as ``ManagedObjectContext/fetch(_:)``.
    @discardableResult
    public func update<Object: ManagedObject>(
        _ type: Object.Type, where predicate: FetchPredicate<Object>? = nil, set assignments: [FetchAssignment<Object>]
    ) throws -> Int {
        let objects = try changeable(type, predicate)
        for (index, object) in objects.enumerated() {
            try checkCancellation(index)
            for assignment in assignments { assignment.apply(object) }
        }
        return objects.count
    }

    /// The objects that match, in any order, all of which may be edited.
    private func changeable<Object: ManagedObject>(
        _ type: Object.Type, _ predicate: FetchPredicate<Object>?
    ) throws -> [Object] {
        try reading { () throws(DataSourceError) in
            let plan = try changePlan(type, predicate)
            return try typed(unsortedObjects(plan), of: plan.query.entity)
        }
    }

    /// The object whose attribute has that value, or a new one that has it.
    ///
    /// For an attribute with a uniqueness constraint the cost is that of a look-up by key, and nothing is read from the
    /// store while the object is registered. For any other it is the first such object in the order of creation; without a
    /// fetch index the store may have to read every row of the entity, which ``AnyDataSource/diagnostics`` says.
    ///
    /// - Throws: `entityNotOwned`, `unknownAttribute`, and what the store throws.
    public func findOrInsert<Object: ManagedObject, Value: AttributeStorable>(
        _ type: Object.Type, where keyPath: KeyPath<Object, Value>, equals value: Value
    ) throws -> Object {
        try reading { () throws(DataSourceError) in
            let entity = try entity(of: type)
            let column = try column(keyPath, of: type, bindings[entity].layout)
            try checkOwned(entity)
            let stored = value.storedValue.value
            if let found = try find(entity: entity, column: column, value: stored) { return try typed(found) }
            return try typed(insert(entity: entity, column: column, value: stored))
        }
    }

    /// A new object for which it is known that no other one has the value.
    func insert(entity: Int, column: Int, value: RowValue) throws(DataSourceError) -> ManagedObject {
        let object = try insert(entity: entity)
        object.setValue(value, column)
        if let constraint = object.layout.constraint(onColumn: column), isOfOneTable(object, constraint) {
            object.checkedConstraint = Int32(constraint)
        }
        return object
    }

    /// A mark that no registered object bears.
    func nextSyncMark() -> Int32 {
        lastSyncMark &+= 1
        if lastSyncMark == 0 { lastSyncMark = 1 }
        return lastSyncMark
    }

    /// Takes back every edit of this batch, in a save over several data sources those of all of them.
    public func rollback() {
        rollback(isEnd: false)
        for companion in companions { companion.rollback(isEnd: false) }
    }

    /// Throws what an edit, or the reading of a relationship, could not throw.
    func throwRefusal() throws {
        guard let refusal else { return }
        if refusal.code == .cancelled { throw CancellationError() }
        throw refusal
    }

    /// Whether anything was read of to-many relationships that a change of links makes wrong.
    var knowsEnds: Bool { related.knowsEnds || companions.contains { $0.related.knowsEnds } }

    /// Links have changed that lead to or from objects of those keys.
    func forgetEnds(of keys: [Int64]) {
        related.removeEnds(of: keys)
        for companion in companions { companion.related.removeEnds(of: keys) }
    }

    // MARK: For tests

    /// How many objects are registered.
    package var registeredObjectCount: Int { bindings.reduce(0) { $0 + $1.objects.count } }

    /// The bytes that they take.
    package var registeredByteCount: Int { registeredBytes }

    /// The same, and what they take if they are all looked at.
    package var registeredByteCounts: (counted: Int, present: Int) {
        let owned = bindings.filter(\.isOwned).flatMap { $0.objects.objects }
        return (registeredByteCount, owned.reduce(0) { $0 + $1.row.byteCount + EntityBinding.objectBytes })
    }

    /// Forgets all objects, as after saves that were too large to be cached.
    package func forgetObjects() { forgetAll() }

}

extension PrivateContext: CustomStringConvertible {
    /// The data source and its entities: `PrivateContext of ContactDataSource (ContactEntity)`.
    public var description: String {
        let names = bindings.filter { $0.isOwned && $0.layout.links == nil }.map(\.layout.name).sorted().joined(
            separator: ", ")
        return "PrivateContext of \(owner ?? "") (\(names))"
    }
}
