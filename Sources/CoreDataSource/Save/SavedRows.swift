internal import RowStore

/// One end of a link: the entity's index and the key of an object.
struct LinkEnd: Hashable {
    let entity: Int
    let key: Int64
}

extension EntityChanges {
    var insertedEnds: some Sequence<LinkEnd> { inserted.lazy.map { [entity] in LinkEnd(entity: entity, key: $0.key) } }
    var updatedEnds: some Sequence<LinkEnd> { updated.lazy.map { [entity] in LinkEnd(entity: entity, key: $0.key) } }
    var deletedEnds: some Sequence<LinkEnd> { deleted.lazy.map { [entity] in LinkEnd(entity: entity, key: $0.key) } }
}

/// A set of rows. For each row, either the key is known, or only the entity.
struct RowSet: Sendable {
    var keys: Set<LinkEnd> = []
    /// The entities of rows whose keys are not known. Any row of these entities may be in the set.
    var entities: Set<Int> = []

    var isEmpty: Bool { keys.isEmpty && entities.isEmpty }

    func mayContain(_ row: LinkEnd) -> Bool { entities.contains(row.entity) || keys.contains(row) }

    /// Keeps only the entities of the rows.
    mutating func forgetKeys() {
        entities.formUnion(keys.lazy.map(\.entity))
        keys = []
    }

    mutating func formUnion(_ other: RowSet) {
        keys.formUnion(other.keys)
        entities.formUnion(other.entities)
    }
}

/// The values of a row in the columns of a uniqueness constraint.
struct UniqueValues: Hashable {
    /// The entity that declares the constraint.
    let owner: Int
    let columns: [Int]
    let values: [RowValue]

    init(_ row: RowSnapshot, _ layout: EntityLayout, _ constraint: Int) {
        owner = layout.constraintOwners[constraint]
        columns = layout.constraints[constraint]
        values = columns.map { row.value($0, layout.columns[$0].storage) }
    }
}

/// The rows that a save has stored or deleted.
struct SavedRows: Sendable {
    /// Deleted rows, by their unique values: if a deleted object is inserted again, it has another key, but the same unique values.
    fileprivate struct Deleted: Sendable {
        var identities: Set<UniqueValues> = []
        /// The entities of rows without unique values.
        var entities: Set<Int> = []
        /// The entities that declare the constraints of the unique values that were forgotten.
        var forgottenOwners: Set<Int> = []

        var isEmpty: Bool { identities.isEmpty && entities.isEmpty && forgottenOwners.isEmpty }

        mutating func insert(_ row: RowSnapshot, _ layout: EntityLayout) {
            let found = SavedRows.identities(row, layout)
            if found.isEmpty { entities.insert(layout.index) }
            identities.formUnion(found)
        }

        /// Whether the object of an inserted row may be one of the deleted objects.
        func mayContain(_ row: RowSnapshot, _ layout: EntityLayout) -> Bool {
            entities.contains(layout.index) || !forgottenOwners.isDisjoint(with: layout.constraintOwners)
                || !identities.isDisjoint(with: SavedRows.identities(row, layout))
        }

        mutating func forgetKeys() {
            forgottenOwners.formUnion(identities.lazy.map(\.owner))
            identities = []
        }

        mutating func formUnion(_ other: Deleted) {
            identities.formUnion(other.identities)
            entities.formUnion(other.entities)
            forgottenOwners.formUnion(other.forgottenOwners)
        }
    }

    /// The rows that were inserted or changed, and the rows of listed objects.
    private(set) var stored = RowSet()
    /// The rows that were inserted or linked to another row.
    private(set) var arrived = RowSet()
    /// The objects whose links in other rows the save has changed. For an answer, only the links that belong to the answer count,
    /// and an object with changed values counts as an object with changed links. After ``forgetKeys()``, ``stored`` has the
    /// entities of the rows with these links instead.
    fileprivate var changedLinks: Set<LinkOwner> = []
    /// The objects whose links in other rows the save has confirmed, without a change.
    fileprivate var confirmedLinks: Set<LinkOwner> = []
    /// After ``forgetKeys()``, the entities of the rows with the confirmed links.
    fileprivate var forgottenLinks: Set<Int> = []
    /// Whether all links of the stored objects may have been confirmed.
    fileprivate var confirmsAllLinks = false
    fileprivate var deleted = Deleted()
    /// The rows that hooks have deleted, and the listed objects that a hook has deleted in the save that inserted them.
    fileprivate var deletedByHooks = Deleted()

    init() {}

    /// Makes the rows of a save if only the entities of the rows are known. Any rows of these entities may have been stored,
    /// linked or deleted.
    init(anyOf entities: some Sequence<Int>) {
        let entities = Set(entities)
        (stored.entities, arrived.entities, deleted.entities) = (entities, entities, entities)
        confirmsAllLinks = true
    }

    /// The rows that a save has inserted or linked. Rows without a column for their owner are left out, because a sweep does
    /// not delete them.
    init(arrived changes: ChangeSet, _ layout: ModelLayout) {
        for changes in changes.entities {
            let (entity, layout) = (changes.entity, layout.entities[changes.entity])
            if layout.links != nil || layout.linkColumns.isEmpty { continue }
            arrived.keys.formUnion(changes.insertedEnds)
            for row in changes.updated where layout.linkColumns.contains(where: row.columns.contains) {
                arrived.keys.insert(LinkEnd(entity: entity, key: row.key))
            }
        }
    }

    /// The rows that another member has saved.
    init(ofOtherMember changes: ChangeSet, _ layout: ModelLayout) {
        self.init(changes, links: nil, layout)
        arrived = SavedRows(arrived: changes, layout).arrived
    }

    /// - Parameters:
    ///   - listed: The rows of the objects that the answer lists, even if the save does not change them.
    ///   - links: The objects whose links in other rows belong to the answer, even if the save does not change them; nil if this
    ///     is not known.
    ///   - isDeletedByHook: Returns whether a hook has deleted a row.
    init(
        _ changes: ChangeSet, listed: some Sequence<LinkEnd> = [], links: Set<LinkOwner>?, _ layout: ModelLayout,
        isDeletedByHook: (LinkEnd) -> Bool = { _ in false }
    ) {
        (confirmedLinks, confirmsAllLinks) = (links ?? [], links == nil)
        var changedRows: Set<LinkEnd> = []
        for changes in changes.entities {
            let entity = changes.entity
            if let owners = LinkOwners(entity, layout) { changedLinks.formUnion(owners.owners(of: changes)) }
            if layout.entities[entity].links != nil { continue }
            changedRows.formUnion(changes.insertedEnds)
            changedRows.formUnion(changes.updatedEnds)
            for row in changes.deleted {
                if isDeletedByHook(LinkEnd(entity: entity, key: row.key)) {
                    deletedByHooks.insert(row.row, layout.entities[entity])
                } else {
                    deleted.insert(row.row, layout.entities[entity])
                }
            }
        }
        stored.keys = changedRows.union(listed)
        guard let links else { return }
        changedLinks = links.filter { changedLinks.contains($0) || changedRows.contains($0.object) }
        confirmedLinks.subtract(changedLinks)
    }

    /// Adds a listed object that a hook has deleted in the save that inserted it.
    mutating func insert(deletedByHook row: RowSnapshot, _ layout: EntityLayout) { deletedByHooks.insert(row, layout) }

    /// Whether a hook may have deleted any object.
    var hasDeletionsByHooks: Bool { !deletedByHooks.isEmpty }

    /// Whether a hook may have deleted the object of an inserted row.
    func mayBeDeletedByHooks(_ row: RowSnapshot, _ layout: EntityLayout) -> Bool {
        deletedByHooks.mayContain(row, layout)
    }

    /// Whether any row was inserted or linked, or may have been.
    var hasArrivals: Bool { !arrived.isEmpty }

    /// Whether the save has stored or deleted any row of the entities, or may have done so. Rows of links count, too.
    func mayHaveRows(of entities: Set<Int>, _ layout: ModelLayout) -> Bool {
        if !entities.isDisjoint(with: stored.entities) { return true }
        if stored.keys.contains(where: { entities.contains($0.entity) }) { return true }
        if changedLinks.contains(where: { entities.contains($0.storage) }) { return true }
        let owners = Set(entities.lazy.flatMap { layout.entities[$0].constraintOwners })
        return [deleted, deletedByHooks].contains { deleted in
            !entities.isDisjoint(with: deleted.entities) || !owners.isDisjoint(with: deleted.forgottenOwners)
                || deleted.identities.contains { owners.contains($0.owner) }
        }
    }

    /// The number of kept keys.
    var count: Int {
        stored.keys.count + arrived.keys.count + changedLinks.count + confirmedLinks.count + deleted.identities.count
            + deletedByHooks.identities.count
    }

    /// Keeps only the entities of the rows.
    mutating func forgetKeys() {
        stored.forgetKeys()
        arrived.forgetKeys()
        stored.entities.formUnion(changedLinks.lazy.map(\.storage))
        forgottenLinks.formUnion(confirmedLinks.lazy.map(\.storage))
        (changedLinks, confirmedLinks) = ([], [])
        deleted.forgetKeys()
        deletedByHooks.forgetKeys()
    }

    mutating func formUnion(_ other: SavedRows) {
        stored.formUnion(other.stored)
        arrived.formUnion(other.arrived)
        changedLinks.formUnion(other.changedLinks)
        confirmedLinks.formUnion(other.confirmedLinks)
        forgottenLinks.formUnion(other.forgottenLinks)
        confirmsAllLinks = confirmsAllLinks || other.confirmsAllLinks
        deleted.formUnion(other.deleted)
        deletedByHooks.formUnion(other.deletedByHooks)
    }

    fileprivate static func identities(_ row: RowSnapshot, _ layout: EntityLayout) -> Set<UniqueValues> {
        let all = layout.constraints.indices.map { UniqueValues(row, layout, $0) }
        return Set(all.filter { !$0.values.contains(.null) })
    }
}

/// The rows of an answer, for a comparison with rows that others have saved. Each comparison looks up the rows of the smaller
/// side, so many small saves cost little even if the answer is large.
///
/// A change of a link in another row counts as a change of the objects to which the link belongs (``LinkOwners``), even if no
/// value of these objects changes.
struct AnswerRows {
    /// The changed and deleted rows, without the rows of links.
    private let changed: Set<LinkEnd>
    private let changedEntities: Set<Int>
    /// The objects whose links the answer changes in other rows.
    private var linkOwners: Set<LinkOwner> = []
    private lazy var linkedObjects = Set(linkOwners.lazy.map(\.object))
    private var inserted: [(layout: EntityLayout, rows: [StoredRow])] = []
    private var insertedEntities: Set<Int> = []
    private lazy var identities = inserted.reduce(into: Set<UniqueValues>()) { identities, entity in
        for row in entity.rows { identities.formUnion(SavedRows.identities(row.row, entity.layout)) }
    }
    /// The number of comparisons.
    private(set) var comparisonCount = 0

    init(changed: Set<LinkEnd>) {
        self.changed = changed
        changedEntities = Set(changed.lazy.map(\.entity))
    }

    /// - Parameters:
    ///   - changes: The changes of the whole batch.
    ///   - answer: The rows that belong to the answer; nil if all rows do.
    ///   - evicted: The objects that were deleted because of an eviction. The links to these objects do not belong to the answer.
    init(_ changes: ChangeSet, _ answer: Set<LinkEnd>?, evicted: Set<LinkEnd>, _ layout: ModelLayout) {
        func isOfAnswer(_ entity: Int, _ key: Int64) -> Bool {
            answer?.contains(LinkEnd(entity: entity, key: key)) ?? true
        }
        var changed: Set<LinkEnd> = []
        for changes in changes.entities where layout.entities[changes.entity].links == nil {
            changed.formUnion(changes.updatedEnds)
            changed.formUnion(changes.deletedEnds)
        }
        self.init(changed: answer.map { changed.intersection($0) } ?? changed)
        for changes in changes.entities {
            let entity = changes.entity
            if let owners = LinkOwners(entity, layout) {
                linkOwners.formUnion(
                    owners.owners(of: changes) { key, lost in
                        isOfAnswer(entity, key) && !evicted.contains(LinkEnd(entity: entity, key: key))
                            && evicted.isDisjoint(with: lost)
                    })
            }
            if layout.entities[entity].links != nil { continue }
            let rows = answer == nil ? changes.inserted : changes.inserted.filter { isOfAnswer(entity, $0.key) }
            if rows.isEmpty { continue }
            inserted.append((layout.entities[entity], rows))
            insertedEntities.insert(entity)
        }
    }

    /// Whether the answer changes or deletes any saved row, changes the links of a saved row, or inserts a row that was deleted.
    /// Also true if this is possible, but unknown.
    ///
    /// **Complexity**: at most a look-up for each saved row, and for each row of the answer.
    ///
    /// - Parameter isLastTry: Whether a load has made its last request. If so, the answer may change links that the saved answer
    ///   has confirmed without a change, because a server may confirm the links again and again. The answer may also insert an
    ///   object that a hook has deleted, because the hook may delete the object again and again.
    mutating func mayReplaceAny(of saved: SavedRows, isLastTry: Bool) -> Bool {
        if !saved.stored.entities.isDisjoint(with: changedEntities) { return true }
        if mayRestoreAny(of: saved.deleted) || !isLastTry && mayRestoreAny(of: saved.deletedByHooks) { return true }
        if !linkOwners.isEmpty, mayReplaceLinks(of: saved, isLastTry: isLastTry) { return true }
        return overlap(saved.stored.keys, changed)
    }

    /// Whether the answer inserts any of the deleted rows.
    private mutating func mayRestoreAny(of deleted: SavedRows.Deleted) -> Bool {
        if !deleted.entities.isDisjoint(with: insertedEntities) { return true }
        let owners = deleted.forgottenOwners
        if !owners.isEmpty, inserted.contains(where: { !owners.isDisjoint(with: $0.layout.constraintOwners) }) {
            return true
        }
        return !deleted.identities.isEmpty && overlap(deleted.identities, identities)
    }

    private mutating func mayReplaceLinks(of saved: SavedRows, isLastTry: Bool) -> Bool {
        if overlap(saved.changedLinks, linkOwners) { return true }
        let storages = Set(linkOwners.lazy.map(\.storage))
        if !saved.stored.entities.isDisjoint(with: storages) { return true }
        if saved.confirmsAllLinks {
            if linkedObjects.contains(where: { saved.stored.entities.contains($0.entity) }) { return true }
            if overlap(saved.stored.keys, linkedObjects) { return true }
        }
        if isLastTry { return false }
        return overlap(saved.confirmedLinks, linkOwners) || !saved.forgottenLinks.isDisjoint(with: storages)
    }

    /// Looks up the elements of the smaller set in the larger set.
    private mutating func overlap<Element>(_ one: Set<Element>, _ other: Set<Element>) -> Bool {
        let (few, many) = one.count < other.count ? (one, other) : (other, one)
        for element in few {
            comparisonCount += 1
            if many.contains(element) { return true }
        }
        return false
    }
}
